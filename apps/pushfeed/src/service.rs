//! The service: polls and enrichments are jobs that fairgate admits into a real queue; pages are served beside.
//!
//! No entity rides in a job: what is pending is found again from its rows, so a job that is lost with its process loses nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fairgate::{Dedupe, DedupeUntil, NewJob, OnConflict, Policy, Retry};
use graphile_worker::{
    IntoTaskHandlerResult, LocalQueueConfig, TaskHandler, Worker, WorkerContext, WorkerOptions,
};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::enrich::{self, Cycle};
use crate::error::FeedError;
use crate::ingest::source::Source;
use crate::ingest::{Polled, poll};
use crate::{setup, web};

/// The queue's name in our policy.
pub const QUEUE: &str = "pushfeed";
/// Where its tables are.
pub const SCHEMA: &str = "pushfeed_queue";
const POLICY: &str = "pushfeed";
/// How often the rows are looked at for work.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long one that stops may go on with what it has in hand.
const GRACE: Duration = Duration::from_secs(5);

/// Polls.
#[derive(Debug, Serialize, Deserialize)]
pub struct PollJob {}

/// Enriches one entity.
#[derive(Debug, Serialize, Deserialize)]
pub struct EnrichJob {}

/// The policy: polls and enrichments are two partitions, each a job a second, so that neither waits for the other.
///
/// # Errors
/// Never: its numbers are constants.
pub fn policy() -> Result<Policy, FeedError> {
    Policy::builder(POLICY)
        .queue(QUEUE)
        .partition_by("work")
        .retry(Retry::Bypass)
        .dedupe(Dedupe { until: DedupeUntil::Admitted, on_conflict: OnConflict::Keep })
        .throttle(|throttle| throttle.rate(1.0).per(Duration::from_secs(1)).burst(1.0))
        .build()
        .map_err(|problems| FeedError::failed(problems.to_string()))
}

/// A worker of the queue; its tables are in place then. Without a program it is only good for that.
pub(crate) async fn worker(
    pool: PgPool,
    app: Option<(Arc<App>, CancellationToken)>,
) -> Result<Worker, FeedError> {
    let mut options = WorkerOptions::default()
        .schema(SCHEMA)
        .pg_pool(pool)
        .concurrency(2)
        .local_queue(LocalQueueConfig::default().with_size(2))
        .listen_os_shutdown_signals(false)
        .shutdown_grace_period(GRACE)
        .define_job::<PollJob>()
        .define_job::<EnrichJob>();
    if let Some((app, stop)) = app {
        options = options.shutdown_signal(stop.cancelled_owned()).add_extension(Shared(app));
    }
    options
        .init()
        .await
        .map_err(|error| FeedError::failed(format!("installing the queue in schema {SCHEMA}: {error}")))
}

/// The program, as jobs find it.
#[derive(Debug, Clone)]
struct Shared(Arc<App>);

impl TaskHandler for PollJob {
    const IDENTIFIER: &'static str = "pushfeed_poll";

    async fn run(self, context: WorkerContext) -> impl IntoTaskHandlerResult {
        let Some(Shared(app)) = context.get_ext::<Shared>() else { return Err("no program".to_owned()) };
        let polled = async {
            let mut worker = app.worker().await?;
            poll(&mut worker, false, Duration::ZERO).await
        };
        match polled.await {
            Ok(Polled::Deferred(deferral)) => tracing::info!(reason = deferral.code(), "poll deferred"),
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "poll failed"),
        }
        Ok::<(), String>(())
    }
}

impl TaskHandler for EnrichJob {
    const IDENTIFIER: &'static str = "pushfeed_enrich";

    async fn run(self, context: WorkerContext) -> impl IntoTaskHandlerResult {
        let Some(Shared(app)) = context.get_ext::<Shared>() else { return Err("no program".to_owned()) };
        let enriched = async {
            let mut worker = app.worker().await?;
            enrich::enrich(&mut worker, None).await
        };
        match enriched.await {
            Ok(Cycle::Deferred(deferral)) => tracing::info!(reason = deferral.code(), "enrichment deferred"),
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "enrichment failed"),
        }
        Ok::<(), String>(())
    }
}

/// Runs until `stop`.
///
/// # Errors
/// When a part cannot be started, or ends by itself.
pub async fn run(app: Arc<App>, stop: CancellationToken) -> Result<(), FeedError> {
    setup::migrate(&app).await?;
    let ticker = setup::ticker(&app).await?;
    let queue_worker = worker(app.pool.clone(), Some((app.clone(), stop.clone()))).await?;
    let mut parts = JoinSet::new();
    let failed = |error: &dyn std::fmt::Display| FeedError::failed(error.to_string());
    let stopped = stop.clone().cancelled_owned();
    parts.spawn(async move { ticker.run(stopped).await.map_err(|error| failed(&error)) });
    parts.spawn(async move { queue_worker.run().await.map_err(|error| failed(&error)) });
    parts.spawn(web::serve(app.clone(), stop.clone()));
    parts.spawn(look(app, stop.clone()));
    while let Some(ended) = parts.join_next().await {
        let ended = ended
            .unwrap_or_else(|error| Err(FeedError::failed(format!("a part of the service broke: {error}"))));
        if !stop.is_cancelled() {
            stop.cancel();
            ended?;
            return Err(FeedError::failed("a part of the service ended by itself"));
        }
        if let Err(error) = ended {
            tracing::error!(%error, "stopping");
        }
    }
    Ok(())
}

/// Looks at the rows for work and stages it, until `stop`. A lost database is waited for.
async fn look(app: Arc<App>, stop: CancellationToken) -> Result<(), FeedError> {
    loop {
        if let Err(error) = stage(&app).await {
            tracing::error!(%error, "looking for work");
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.cancelled() => return Ok(()),
        }
    }
}

/// Stages a job for each kind of work that is due. One that waits already counts for both.
///
/// # Errors
/// When the database does not answer.
pub async fn stage(app: &App) -> Result<(), FeedError> {
    let lost = |source| FeedError::from(fairgate::DatabaseError { doing: "connecting", source });
    let mut conn = app.pool.acquire().await.map_err(lost)?;
    let source = Source::read(&mut conn).await?;
    let (ledger, now) = app.budget.read(&mut conn, None).await?;
    let mut due = Vec::new();
    if source.out_of_service.is_none() && source.schedule(&app.config, &ledger).is_due(now) {
        due.push(("poll", PollJob::IDENTIFIER));
    }
    enrich::pool::age_out(&mut conn, &app.config).await?;
    let next = enrich::summary::next(&mut conn, &app.config, &ledger, now).await?;
    if enrich::search::sooner(app, &mut conn, next).await? == enrich::summary::Next::Now {
        due.push(("enrich", EnrichJob::IDENTIFIER));
    }
    for (work, task) in due {
        let failed = |error: &dyn std::fmt::Display| FeedError::failed(format!("staging {work}: {error}"));
        let job = NewJob::new(task)
            .context(&HashMap::from([("work", work)]))
            .map_err(|error| failed(&error))?
            .dedupe_key(work)
            .max_attempts(1);
        fairgate::stage(&mut conn, POLICY, &job).await.map_err(|error| failed(&error))?;
    }
    Ok(())
}
