//! Graphile Worker's own workers, unchanged, in this process. They perform a job by an HTTP request.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, header};
use graphile_worker::{IntoTaskHandlerResult, LocalQueueConfig, TaskHandler, WorkerContext, WorkerOptions};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use super::crew::Hand;
use super::endpoint::{DELIVERY, POLICY};
use crate::error::CliError;

/// Where the demo's queue lives, away from a queue that the database may hold already.
pub(super) const SCHEMA: &str = "fairgate_demo_queue";
/// The task that every delivery is.
pub(super) const TASK: &str = Deliver::IDENTIFIER;
/// Workers.
pub(super) const WORKERS: usize = 2;
/// Jobs that a worker runs at once.
const CONCURRENCY: usize = 10;
/// Jobs that a worker fetches at once; without fetching ahead it would take one per wake-up.
const FETCH: usize = 20;

/// Posts an event to the endpoint, as a webhook.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Deliver(serde_json::Value);

/// Performs a job.
#[derive(Clone, Debug)]
pub(super) struct Postman {
    client: Client<HttpConnector, Body>,
    url: String,
}

/// Workers that are ready to run; the queue's tables are in place then.
///
/// # Errors
/// When the database refuses.
pub(super) async fn hire(pool: &PgPool, url: &str, stop: &CancellationToken) -> Result<Vec<Hand>, CliError> {
    let postman = Postman::new(url);
    let mut workers: Vec<Hand> = Vec::new();
    for _ in 0..WORKERS {
        let worker = WorkerOptions::default()
            .schema(SCHEMA)
            .pg_pool(pool.clone())
            .concurrency(CONCURRENCY)
            .local_queue(LocalQueueConfig::default().with_size(FETCH))
            .listen_os_shutdown_signals(false)
            .shutdown_signal(stop.clone().cancelled_owned())
            .shutdown_grace_period(Duration::from_secs(3))
            .add_extension(postman.clone())
            .define_job::<Deliver>()
            .init()
            .await
            .map_err(|error| {
                CliError::failed(format!("installing Graphile Worker's tables in schema {SCHEMA} failed"))
                    .cause(error.to_string())
                    .hint("the user of the URL must be allowed to create a schema in this database")
            })?;
        workers.push(Box::pin(async move {
            worker.run().await.map_err(|error| {
                CliError::failed("a worker of the demo's queue stopped").cause(error.to_string())
            })
        }));
    }
    Ok(workers)
}

impl TaskHandler for Deliver {
    const IDENTIFIER: &'static str = "fairgate_demo_deliver";

    async fn run(self, context: WorkerContext) -> impl IntoTaskHandlerResult {
        let Some(postman) = context.get_ext::<Postman>() else {
            return Err("this worker was given no endpoint to deliver to".to_owned());
        };
        // fairgate's mark on the queue's row: the job and its policy.
        let mark = |key: &str| {
            let flags = context.job().flags().as_ref()?;
            flags.get("fairgate")?.get(key)?.as_str()
        };
        let (Some(job), Some(policy)) = (mark("j"), mark("policy")) else {
            return Err("the job did not come through fairgate".to_owned());
        };
        postman.post(job, policy, self.0.to_string()).await
    }
}

impl Postman {
    pub(super) fn new(url: &str) -> Self {
        Self { client: Client::builder(TokioExecutor::new()).build_http(), url: url.to_owned() }
    }

    pub(super) async fn post(&self, job: &str, policy: &str, event: String) -> Result<(), String> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(DELIVERY, job)
            .header(POLICY, policy)
            .body(Body::from(event))
            .map_err(|error| error.to_string())?;
        let response = self.client.request(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        // Read to its end, so that the connection is used again.
        axum::body::to_bytes(Body::new(response.into_body()), 1024)
            .await
            .map_err(|error| error.to_string())?;
        if status.is_success() { Ok(()) } else { Err(format!("the endpoint answered {status}")) }
    }
}
