//! What fairgate costs beside PostgreSQL's own limit, as ratios measured in one run.

mod admission;
mod lean;
mod setup;

#[tokio::main]
async fn main() {
    let bench = setup::Bench::start().await;
    for (jobs, tenants) in [(20_000, 100), (50_000, 1_000), (100_000, 10_000)] {
        for tickers in [1, 4] {
            for (name, batch, budget) in [("500/5000", 500, 5_000), ("defaults", 50, 0)] {
                let r = admission::measure(&bench, jobs, tenants, tickers, batch, budget).await;
                println!("{jobs:>7} jobs {tenants:>6} tenants {tickers} tickers {name:>9}: {r:?}");
            }
        }
    }
}
