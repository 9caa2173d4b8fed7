//! A worker process: the unchanged worker of the `graphile_worker` crate.

use std::process::ExitCode;
use std::time::Duration;

use graphile_worker::{
    IntoTaskHandlerResult, LocalQueueConfig, TaskHandler, WorkerContext, WorkerOptions, WorkerStart,
};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use uuid::Uuid;

use super::role::{Part, Stop, stopped};

/// The task of every job: waits, beats while it does if told to, and fails on its first attempts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Work {
    /// How long it takes, in milliseconds.
    pub(super) takes: u64,
    /// Attempts that fail.
    pub(super) failures: i16,
    /// Whether it beats.
    pub(super) beats: bool,
}

impl TaskHandler for Work {
    const IDENTIFIER: &'static str = "work";

    async fn run(self, ctx: WorkerContext) -> impl IntoTaskHandlerResult {
        self.perform(&ctx).await.map_err(|error| error.to_string())
    }
}

impl Work {
    async fn perform(&self, ctx: &WorkerContext) -> Result<(), Box<dyn std::error::Error>> {
        let attempt = *ctx.job().attempts();
        let mark =
            ctx.job().flags().as_ref().and_then(|flags| flags.get("fairgate")).ok_or("no mark of ours")?;
        let id = |key| mark.get(key).and_then(|id| id.as_str()).ok_or("no id of ours");
        let (admission, job): (Uuid, Uuid) = (id("a")?.parse()?, id("j")?.parse()?);
        tokio::time::sleep(Duration::from_millis(self.takes / 2)).await;
        if self.beats {
            fairgate::track::heartbeat(&mut *ctx.pg_pool().acquire().await?, admission.into()).await?;
        }
        tokio::time::sleep(Duration::from_millis(self.takes - self.takes / 2)).await;
        if attempt <= self.failures {
            return Err("told to fail".into());
        }
        sqlx::query(include_str!("../../queries/torture/remember_success.sql"))
            .bind(job)
            .bind(i32::from(attempt))
            .execute(ctx.pg_pool())
            .await?;
        Ok(())
    }
}

/// Works until told to stop, or until the crate gives up, as it does when it loses a connection in a bad moment.
pub(super) async fn work(part: &Part, stop: Stop) -> ExitCode {
    match run(part, stop).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", part.name);
            ExitCode::FAILURE
        }
    }
}

async fn run(part: &Part, stop: Stop) -> Result<(), Box<dyn std::error::Error>> {
    let pool = PgPoolOptions::new()
        .max_connections(5)
        .acquire_timeout(Duration::from_secs(5))
        .connect(&part.url)
        .await?;
    let worker = options(part, pool).init().await?;
    let work = worker.run();
    tokio::pin!(work);
    tokio::select! {
        ended = &mut work => ended?,
        () = stopped(stop) => {
            worker.request_shutdown();
            work.await?;
        }
    }
    Ok(())
}

/// Three kinds of workers: job by job, with a local queue, and with one that reports ends in batches.
fn options(part: &Part, pool: PgPool) -> WorkerOptions {
    let (name, books) = (part.name.clone(), pool.clone());
    let options = WorkerOptions::default()
        .schema("graphile_worker")
        .concurrency(4)
        .poll_interval(Duration::from_millis(100))
        .pg_pool(pool)
        .define_job::<Work>()
        .on(WorkerStart, move |start| {
            let (name, books) = (name.clone(), books.clone());
            async move { remember(&books, &start.worker_id, &name).await }
        });
    let local_queue = LocalQueueConfig::default().with_size(10);
    match part.number % 4 {
        0 => options,
        1 | 2 => options.local_queue(local_queue),
        _ => options
            .local_queue(local_queue)
            .complete_job_batch_delay(Duration::from_millis(3))
            .fail_job_batch_delay(Duration::from_millis(3)),
    }
}

/// The crate chooses the id that it locks jobs with. A worker whose id is not known must not begin, or its locks would outlive it.
async fn remember(pool: &PgPool, worker_id: &str, name: &str) {
    let sql = include_str!("../../queries/torture/remember_worker.sql");
    if let Err(error) = sqlx::query(sql).bind(worker_id).bind(name).execute(pool).await {
        eprintln!("{name}: {error}");
        std::process::exit(1);
    }
}
