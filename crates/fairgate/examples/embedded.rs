//! A ticker inside your own program: `DATABASE_URL=postgres://.. cargo run --example embedded`.
//!
//! Stages a few jobs of two accounts in one transaction and admits them into Graphile Worker until Ctrl-C. Its tables must be in the same database;
//! its workers stay as they are.

use fairgate::queue::GraphileWorker;
use fairgate::{NewJob, Policy, Settings, Ticker};
use serde_json::json;
use sqlx::PgPool;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("DATABASE_URL")
        .map_err(|_| "set DATABASE_URL to the database that holds the queue's tables")?;
    let pool = PgPool::connect(&url).await?;
    fairgate::migrate(&mut *pool.acquire().await?).await?;

    // Premium accounts get twice the cap: any number of a gate may be a closure over the newest context.
    let policy = Policy::builder("embedded")
        .queue("main")
        .partition_by("account_id")
        .throttle(|t| t.rate_from("rate_limit", 60.0).per(std::time::Duration::from_secs(60)).burst(10.0))
        .concurrency(|c| {
            c.max_fn(|context| {
                let premium = context.get(&"premium".parse().expect("a path"))
                    == fairgate_core::context::Leaf::Bool(true);
                if premium { 10.0 } else { 5.0 }
            })
        })
        .build()?;
    let ticker = Ticker::builder(pool.clone())
        .settings(Settings::default())
        .queue("main", GraphileWorker::new("graphile_worker")?)?
        .policy(policy)
        .register()
        .await?;

    let mut transaction = pool.begin().await?;
    for n in 0..20 {
        let job = NewJob::new("deliver")
            .payload(&json!({ "n": n }))?
            .context(&json!({ "account_id": n % 2, "premium": n % 2 == 0 }))?;
        let staged = fairgate::stage(&mut transaction, "embedded", &job).await?;
        println!("{} {}", staged.job_id, staged.outcome.as_str());
    }
    transaction.commit().await?;

    ticker.run(async { drop(tokio::signal::ctrl_c().await) }).await?;
    Ok(())
}
