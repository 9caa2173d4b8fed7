use std::time::Duration;

use apalis::prelude::*;
use apalis_postgres::{Config, PostgresStorage};
use sqlx::PgPool;

use crate::Work;

async fn work(job: Work, pool: Data<PgPool>) -> Result<(), BoxDynError> {
    job.run(&pool).await.map_err(Into::into)
}

pub(crate) async fn run(pool: PgPool) {
    let config =
        Config::default().queue("work").batch_size(20).heartbeat_interval(Duration::from_secs(1)).missed_heartbeats(3);
    let backend =
        PostgresStorage::new(&pool).with_config(config).with_pubsub().poll_with_interval(Duration::from_secs(1));
    let name = format!("worker-{}", std::process::id());
    WorkerBuilder::new(name).backend(backend).data(pool).concurrency(20).build(work).run().await.expect("it runs until it is killed");
}
