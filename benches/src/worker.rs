//! An unchanged Graphile worker in a process of its own: `worker URL CONCURRENCY [MILLISECONDS A JOB]`.

use std::time::Duration;

use graphile_worker::{IntoTaskHandlerResult, LocalQueueConfig, TaskHandler, WorkerContext, WorkerOptions};
use serde::{Deserialize, Serialize};

/// Does nothing, for as long as its payload says.
#[derive(Debug, Serialize, Deserialize)]
struct Noop {
    #[serde(default)]
    sleep_ms: u64,
}

impl TaskHandler for Noop {
    const IDENTIFIER: &'static str = "noop";

    async fn run(self, _: WorkerContext) -> impl IntoTaskHandlerResult {
        if self.sleep_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.sleep_ms)).await;
        }
        Ok::<(), String>(())
    }
}

pub(crate) async fn run(url: &str, concurrency: &str, local_queue: Option<&str>) {
    let concurrency: usize = concurrency.parse().expect("a number");
    let mut options = WorkerOptions::default()
        .database_url(url)
        .schema("graphile_worker")
        .concurrency(concurrency)
        .define_job::<Noop>();
    if let Some(size) = local_queue {
        let size = size.parse().expect("a number");
        options = options
            .local_queue(LocalQueueConfig::default().with_size(size))
            .complete_job_batch_delay(Duration::from_millis(2));
    }
    options.init().await.expect("a worker").run().await.expect("worked");
}
