//! What fairgate costs beside PostgreSQL's own limit: ratios measured side by side in one run, on a durable private server.
//!
//! `make bench` prints a table; `BENCH_JSON=FILE` writes the same as one JSON document; arguments name the sections to run.

mod admission;
mod graphile;
mod lean;
mod scopes;
mod setup;
mod staging;
mod table;
mod trip;
mod waiting;
mod worker;

use setup::Bench;
use table::Table;

const SECTIONS: [&str; 6] = ["admission", "scopes", "graphile", "staging", "waiting", "trip"];

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [role, url, concurrency, rest @ ..] = args.as_slice()
        && role == "worker"
    {
        return worker::run(url, concurrency, rest.first().map(String::as_str)).await;
    }
    if let Some(unknown) = args.iter().find(|a| !SECTIONS.contains(&a.as_str())) {
        eprintln!("error: there is no section \"{unknown}\"; sections: {}", SECTIONS.join(", "));
        std::process::exit(2);
    }
    let wanted = |name: &str| args.is_empty() || args.iter().any(|a| a == name);
    let bench = Bench::start().await;
    let mut table = Table::default();
    if wanted("admission") {
        admission::run(&bench, &mut table).await;
    }
    if wanted("scopes") {
        scopes::run(&bench, &mut table).await;
    }
    if wanted("graphile") {
        graphile::run(&bench, &mut table).await;
    }
    if wanted("staging") {
        staging::run(&bench, &mut table).await;
    }
    if wanted("waiting") {
        waiting::run(&bench, &mut table).await;
    }
    if wanted("trip") {
        trip::run(&bench, &mut table).await;
    }
    if let Ok(file) = std::env::var("BENCH_JSON") {
        std::fs::write(&file, table.to_json()).unwrap_or_else(|e| panic!("writing {file}: {e}"));
    }
    bench.stop().await;
    if table.missed() {
        eprintln!("at least one ratio is below its target");
        std::process::exit(1);
    }
}
