use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::lane::Rules;
use crate::queue::Queue;

/// What is to be taken from one partition.
#[derive(Debug, Clone)]
pub(crate) struct Take {
    pub(crate) partition: Uuid,
    pub(crate) key: String,
    pub(crate) count: u32,
    pub(crate) rank: u32,
    pub(crate) limits: String,
    /// Worker seconds that each job is charged, under weights by worker time.
    pub(crate) charged: Option<f64>,
    /// The ids of the scopes whose slots the jobs hold, as the text of an array; only of a policy that has scopes.
    pub(crate) scopes: String,
}

/// The admission statement: take, the queue's own inserts, record.
#[derive(Debug, Clone)]
pub(crate) struct AdmitSql {
    /// Takes the next jobs in order.
    all: Arc<str>,
    /// Takes one job and no other: a condition of its own, because testing every row for it costs every tick.
    one: Arc<str>,
}

/// What the marks in the statement's text stand for.
const SCOPES: [(&str, &str); 5] = [
    ("/*scopes_read*/", ", u.scopes::uuid[] AS scopes"),
    ("/*scopes_given*/", ", $13::text[]"),
    ("/*scopes_planned*/", ", n.scopes"),
    ("/*scopes_taken*/", ", t.scopes"),
    ("/*scopes*/", ", scopes"),
];

impl AdmitSql {
    /// `scoped`: with a parameter and a column for the scopes whose slots the jobs hold. `forced`: the slots say that no gate was obeyed.
    pub(crate) fn compose(queue: &dyn Queue, scoped: bool, forced: bool) -> Self {
        let record = include_str!("../queries/admit/record_admissions.sql")
            .replace("{forced}", if forced { "true" } else { "false" });
        let text = |only: &str| {
            let take = include_str!("../queries/admit/take_staged.sql")
                .replace("{queue_id}", &queue.queue_id())
                .replace("{only}", only);
            let whole = format!("{take}{}{record}", queue.enqueue());
            if scoped {
                SCOPES.iter().fold(whole, |text, (mark, sql)| text.replace(mark, sql))
            } else {
                whole
            }
        };
        let one = if scoped { " AND s.job_id = $14" } else { " AND s.job_id = $13" };
        Self { all: text("").into(), one: text(one).into() }
    }
}

/// Moves the planned jobs from staging into the queue and writes their slots. Says how many of each partition were really taken.
/// `only`: no other job than this. `counted`: they count as waiting in the queue until they begin.
pub(crate) async fn admit(
    conn: &mut PgConnection,
    rules: &Rules,
    takes: &[Take],
    only: Option<Uuid>,
    counted: bool,
    now: DateTime<Utc>,
) -> Result<HashMap<Uuid, u32>, DatabaseError> {
    const DOING: &str = "admitting jobs";
    let number = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let sql = if only.is_some() { &rules.admit_sql.one } else { &rules.admit_sql.all };
    let mut admit = crate::sql::query_as(AssertSqlSafe(Arc::clone(sql)))
        .bind(takes.iter().map(|t| t.partition).collect::<Vec<_>>())
        .bind(takes.iter().map(|t| t.key.as_str()).collect::<Vec<_>>())
        .bind(takes.iter().map(|t| number(t.count)).collect::<Vec<_>>())
        .bind(takes.iter().map(|t| number(t.rank)).collect::<Vec<_>>())
        .bind(takes.iter().map(|t| t.limits.as_str()).collect::<Vec<_>>())
        .bind(rules.policy.name().as_str())
        .bind(rules.policy_id)
        .bind(rules.queue_id)
        .bind(now)
        .bind(rules.learns)
        .bind(counted)
        .bind(takes.iter().map(|t| t.charged).collect::<Vec<_>>());
    if rules.scopes.is_some() {
        admit = admit.bind(takes.iter().map(|t| t.scopes.as_str()).collect::<Vec<_>>());
    }
    if let Some(job) = only {
        admit = admit.bind(job);
    }
    let span = tracing::debug_span!("admit", policy = %rules.policy.name(), partitions = takes.len());
    let rows: Vec<(Option<Uuid>, i32)> =
        tracing::Instrument::instrument(admit.fetch_all(conn), span).await.doing(DOING)?;
    let gone: u32 = rows.iter().filter(|(id, _)| id.is_none()).map(|(_, n)| n.unsigned_abs()).sum();
    if u64::from(gone) == takes.iter().map(|t| u64::from(t.count)).sum::<u64>() {
        return Ok(takes.iter().map(|t| (t.partition, t.count)).collect());
    }
    let taken: HashMap<Uuid, u32> =
        rows.into_iter().filter_map(|(id, n)| Some((id?, n.unsigned_abs()))).collect();
    if taken.values().sum::<u32>() != gone {
        return Err(sqlx::Error::Protocol("a job changed while it was taken".to_owned())).doing(DOING);
    }
    Ok(taken)
}

/// Whose fault it is that an admission failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// A row that the queue refuses.
    Job,
    /// The queue's tables: not there, of another shape, or not ours to write.
    Queue,
    /// The server or the connection; the same may work in a moment.
    Server,
}

/// By the class of the SQLSTATE.
pub(crate) fn blame(error: &DatabaseError) -> Blame {
    match error.sqlstate().as_deref().map(|s| s.get(..2).unwrap_or_default().to_owned()).as_deref() {
        Some("42" | "3F" | "0A") => Blame::Queue,
        None | Some("08" | "25" | "40" | "53" | "55" | "57" | "58" | "XX") => Blame::Server,
        Some(_) => Blame::Job,
    }
}
