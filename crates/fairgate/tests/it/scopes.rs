//! Gates whose capacity many partitions share.

mod crowd;
mod explained;
mod faults;
mod forced;
mod limits;
mod plans;
mod shapes;
mod slots;

use fairgate::{NewJob, Policy};
use serde_json::json;

use crate::world::{World, policy};

/// One cap for each account, over all its endpoints. The belt is off: a full scope is looked at again by nobody, unless something happens.
fn per_account(name: &str, max: f64) -> Policy {
    let hour = std::time::Duration::from_secs(3600);
    policy(name).concurrency(|c| c.max(max).scope("account").full_backoff(hour)).build().expect("a policy")
}

/// A job of an endpoint (the partition) of an account.
fn job(endpoint: &str, account: &str) -> NewJob {
    NewJob::new("work").context(&json!({ "tenant": endpoint, "account": account })).expect("a context")
}

impl World {
    /// Stages `count` jobs for each of so many endpoints of an account.
    async fn stage_account(&self, policy: &str, account: &str, endpoints: usize, count: usize) {
        let jobs: Vec<NewJob> = (0..endpoints)
            .flat_map(|n| (0..count).map(move |_| job(&format!("{account}-{n:05}"), account)))
            .collect();
        self.stage_jobs(policy, &jobs).await;
    }

    async fn in_flight_of(&self, account: &str) -> i64 {
        self.number(&format!(
            "SELECT count(*) FROM fairgate.in_flight f JOIN fairgate.partition p ON p.id = f.partition_id WHERE p.key LIKE '{account}-%'"
        ))
        .await
    }

    /// The queue completes so many of its jobs, oldest first.
    async fn complete_any(&self, count: i64) -> u64 {
        self.execute(&format!(
            "DELETE FROM graphile_worker._private_jobs WHERE id IN (SELECT id FROM graphile_worker._private_jobs ORDER BY id LIMIT {count})"
        ))
        .await
    }

    /// Jobs that passes admit until one finds nothing to do.
    async fn drain_into_slots(&mut self) -> u64 {
        let admitted = self.settle().await;
        self.audit().await;
        admitted
    }
}
