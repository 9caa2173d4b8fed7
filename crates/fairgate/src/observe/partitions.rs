use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use fairgate_core::context::Context;
use fairgate_core::id::{PARTITION_KEY_LIMIT, PartitionKey, PolicyName};
use serde::Serialize;
use sqlx::PgConnection;

use super::PolicyStatus;
use crate::error::Doing;
use crate::operate::{OperateError, policy_id};

/// How a list of partitions is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartitionSort {
    /// Most waiting jobs first.
    #[default]
    Pending,
    /// Most jobs in flight first.
    InFlight,
    /// By key.
    Key,
    /// Next to be looked at first.
    Due,
    /// Most recent activity first.
    Recent,
    /// Most jobs ever admitted first.
    Admitted,
}

impl PartitionSort {
    /// The names that the command takes.
    pub const NAMES: [&'static str; 6] = ["pending", "in_flight", "key", "due", "recent", "admitted"];

    /// The sort of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "pending" => Some(Self::Pending),
            "in_flight" => Some(Self::InFlight),
            "key" => Some(Self::Key),
            "due" => Some(Self::Due),
            "recent" => Some(Self::Recent),
            "admitted" => Some(Self::Admitted),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InFlight => "in_flight",
            Self::Key => "key",
            Self::Due => "due",
            Self::Recent => "recent",
            Self::Admitted => "admitted",
        }
    }
}

/// A partition at one moment.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct PartitionStatus {
    /// Its key.
    pub key: String,
    /// Its shard.
    pub shard: String,
    /// Jobs that wait and could go by their time.
    pub pending: i64,
    /// Jobs whose `run_at` is still to come.
    pub scheduled: i64,
    /// Jobs in flight.
    pub in_flight: i64,
    /// Jobs ever admitted (since the partition was last created).
    pub admitted: i64,
    /// When it is looked at next; none: nothing waits, or it is paused.
    pub due_at: Option<DateTime<Utc>>,
    /// Paused.
    pub paused: bool,
    /// Why its jobs wait, by the last look.
    pub denial: Option<String>,
    /// Recent activity as of the last look.
    pub recent: f64,
    /// When it was last looked at.
    pub checked_at: Option<DateTime<Utc>>,
    /// Its newest context, as text: no number is too large for it and no nesting too deep.
    #[sqlx(try_from = "String")]
    pub context: Context,
    /// Where it stands in the order of the list.
    #[serde(skip)]
    rank: f64,
}

/// Where the next page of a list begins: behind a row. Text: `RANK~KEY`. It is only a place in an order, so one that somebody made up leads to a
/// page like any other.
#[derive(Debug, Clone, PartialEq)]
pub struct PageMark {
    rank: f64,
    key: String,
}

impl fmt::Display for PageMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}", self.rank, self.key)
    }
}

impl FromStr for PageMark {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const BAD: &str =
            "this is no mark of a page; take one from a page, or leave it out for the first page";
        let (rank, key) = text.split_once('~').ok_or(BAD)?;
        let rank: f64 = rank.parse().map_err(|_| BAD)?;
        if rank.is_nan() || key.contains('\0') || key.len() > PARTITION_KEY_LIMIT {
            return Err(BAD);
        }
        Ok(Self { rank, key: key.to_owned() })
    }
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct PartitionsAsked {
    /// Only those whose key contains this, taken literally.
    pub search: Option<String>,
    /// Their order.
    pub sort: PartitionSort,
    /// Only those with waiting or scheduled jobs.
    pub waiting: bool,
    /// Only those behind this mark.
    pub after: Option<PageMark>,
}

/// A page of partitions.
#[derive(Debug, Clone, Serialize)]
pub struct PartitionList {
    /// The policy.
    pub policy: PolicyName,
    /// The partitions.
    pub partitions: Vec<PartitionStatus>,
    /// Where the next page begins; left out on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// All policies.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyList {
    /// By name; the retired ones last.
    pub policies: Vec<PolicyStatus>,
}

/// Partitions of a policy whose key contains `search` (taken literally).
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn partitions(
    conn: &mut PgConnection,
    policy: &PolicyName,
    search: Option<&str>,
    sort: PartitionSort,
    limit: u32,
) -> Result<Vec<PartitionStatus>, OperateError> {
    let asked = PartitionsAsked { search: search.map(str::to_owned), sort, ..PartitionsAsked::default() };
    Ok(partition_page(conn, policy, &asked, limit).await?.partitions)
}

/// A page of at most `limit` partitions of a policy.
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn partition_page(
    conn: &mut PgConnection,
    policy: &PolicyName,
    asked: &PartitionsAsked,
    limit: u32,
) -> Result<PartitionList, OperateError> {
    let id = policy_id(conn, policy.as_str()).await?;
    // PostgreSQL has no text with a NUL, so no key contains one.
    let search = asked.search.as_deref().filter(|text| !text.is_empty());
    if search.is_some_and(|text| text.contains('\0')) {
        return Ok(PartitionList { policy: policy.clone(), partitions: Vec::new(), next: None });
    }
    let mut rows: Vec<PartitionStatus> =
        crate::sql::query_as(include_str!("../../queries/observe/list_partitions.sql"))
            .bind(id)
            .bind(search)
            .bind(asked.sort.name())
            .bind(i64::from(limit) + 1)
            .bind(asked.waiting)
            .bind(asked.after.as_ref().map(|mark| mark.rank))
            .bind(asked.after.as_ref().map(|mark| &mark.key))
            .fetch_all(conn)
            .await
            .doing("listing partitions")?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let mark = |row: &PartitionStatus| PageMark { rank: row.rank, key: row.key.clone() }.to_string();
    let next = rows.last().filter(|_| more).map(mark);
    Ok(PartitionList { policy: policy.clone(), partitions: rows, next })
}

/// One partition. None: there is none, or it is known from reports alone.
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn partition(
    conn: &mut PgConnection,
    policy: &PolicyName,
    partition: &PartitionKey,
) -> Result<Option<PartitionStatus>, OperateError> {
    let id = policy_id(conn, policy.as_str()).await?;
    let row = crate::sql::query_as(include_str!("../../queries/observe/read_partition_status.sql"))
        .bind(id)
        .bind(partition.as_str())
        .fetch_optional(conn)
        .await
        .doing("reading a partition")?;
    Ok(row)
}

/// The definition of a policy as registered.
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn definition(
    conn: &mut PgConnection,
    policy: &PolicyName,
) -> Result<serde_json::Value, OperateError> {
    let id = policy_id(conn, policy.as_str()).await?;
    let text: String = crate::sql::query_scalar(include_str!("../../queries/override/read_definition.sql"))
        .bind(id)
        .fetch_one(conn)
        .await
        .doing("reading a policy")?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}
