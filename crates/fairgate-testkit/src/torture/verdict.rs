//! The last look: the books, what the triggers found, every window of the throttles, the identities, and deadlocks.

use std::collections::BTreeMap;

use sqlx::PgPool;
use uuid::Uuid;

use super::companions::audit_once;
use super::complaints::{Complaints, Fault, Problem};
use super::windows::{Look, overdrawn};

/// What a run did, for people and against runs that do nothing.
#[derive(Debug, Clone, Default, sqlx::FromRow)]
pub struct Tally {
    /// Jobs that committed transactions staged.
    pub staged: i64,
    /// Jobs that were cancelled in time.
    pub cancelled: i64,
    /// Admissions.
    pub admitted: i64,
    /// Jobs with a run that did what it should.
    pub succeeded: i64,
    /// Such runs; a killed worker's job runs again.
    pub runs: i64,
    /// Jobs that used up their attempts.
    pub dead: i64,
    /// Partitions that were removed.
    pub removed: i64,
    /// Ticks that found something due.
    pub ticks: i64,
    /// Ticks that admitted something.
    pub admitting_ticks: i64,
    /// Looks at throttled partitions.
    pub looks: i64,
    /// Sessions in other databases of the server. A transaction of theirs may keep partitions from being removed.
    pub strangers: i64,
}

/// Adds what is wrong to the complaints. Nobody works any more.
pub(super) async fn judge(pool: &PgPool, complaints: &Complaints) -> Tally {
    let broken: Vec<(String, String)> =
        sqlx::query_as(include_str!("../../queries/torture/broken_promises.sql"))
            .fetch_all(pool)
            .await
            .expect("the books can be read");
    for (fault, detail) in broken {
        complaints.add(Fault::named(&fault), detail);
    }
    check_windows(pool, complaints).await;
    let audited = audit_once(pool, complaints).await;
    complaints.hear("the last audit", audited);
    sqlx::query_as(include_str!("../../queries/torture/tally.sql")).fetch_one(pool).await.expect("a tally")
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    partition_id: Uuid,
    gate: String,
    at_us: i64,
    fresh: bool,
    rate: Option<f64>,
    burst: Option<f64>,
    taken: i64,
    forced: bool,
}

async fn check_windows(pool: &PgPool, complaints: &Complaints) {
    let sql = include_str!("../../queries/torture/looks.sql");
    let rows: Vec<Row> = sqlx::query_as(sql).fetch_all(pool).await.expect("the looks can be read");
    let mut buckets: BTreeMap<(Uuid, String), Vec<Look>> = BTreeMap::new();
    for row in rows {
        let Row { at_us, fresh, taken, forced, .. } = row;
        let look = Look { at_us, fresh, limits: row.rate.zip(row.burst), taken, forced };
        buckets.entry((row.partition_id, row.gate)).or_default().push(look);
    }
    for ((partition, gate), looks) in buckets {
        if let Some(window) = overdrawn(&looks) {
            complaints.add(Fault::OverRate, format!("gate {gate} of partition {partition}: {window}"));
        }
    }
}

/// How often each fault was found, and the first of each, one line a fault.
pub(super) fn summary(problems: &[Problem]) -> String {
    let mut faults: Vec<(Fault, usize, &Problem)> = Vec::new();
    for problem in problems {
        match faults.iter_mut().find(|(fault, ..)| *fault == problem.fault) {
            Some((_, count, _)) => *count += 1,
            None => faults.push((problem.fault, 1, problem)),
        }
    }
    faults.iter().map(|(_, count, first)| format!("  {count} x {first}\n")).collect()
}
