use graphile_worker::{IntoTaskHandlerResult, TaskHandler, WorkerContext, WorkerOptions};
use sqlx::PgPool;

use crate::Work;

impl TaskHandler for Work {
    const IDENTIFIER: &'static str = "work";

    async fn run(self, ctx: WorkerContext) -> impl IntoTaskHandlerResult {
        let pool = ctx.get_ext::<PgPool>().expect("it was added");
        Work::run(self, pool).await
    }
}

pub(crate) async fn run(pool: PgPool) {
    // What a person does after a crash, who does not want to wait four hours for the locks to lapse. No other worker runs.
    let unlock = "SELECT graphile_worker.force_unlock_workers(array_agg(locked_by)) FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL";
    sqlx::query(unlock).execute(&pool).await.expect("unlocked");
    let options = WorkerOptions::default().pg_pool(pool.clone()).schema("graphile_worker").concurrency(20);
    let options = options.poll_interval(std::time::Duration::from_millis(500)).add_extension(pool);
    let worker = options.define_job::<Work>().init().await.expect("a worker");
    worker.run().await.expect("it runs until it is killed");
}
