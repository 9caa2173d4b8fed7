use std::time::Duration;

use fairgate_core::id::PolicyName;
use serde::Serialize;
use sqlx::PgConnection;

use crate::error::Doing;
use crate::operate::{OperateError, policy_id};

/// Partitions of which shares are computed: those with the most recent activity.
const SHARERS: i64 = 1_000;

/// A partition and its number.
#[derive(Debug, Clone, PartialEq, Serialize, sqlx::FromRow)]
pub struct Ranked {
    /// Its key.
    pub key: String,
    /// The number.
    pub value: f64,
}

/// Who has the most of a policy, each the most first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rankings {
    /// Jobs that wait.
    pub waiting: Vec<Ranked>,
    /// Jobs in flight.
    pub in_flight: Vec<Ranked>,
    /// Seconds that the first job has waited, among the oldest staged jobs.
    pub longest_wait: Vec<Ranked>,
    /// Jobs ever admitted.
    pub lifetime: Vec<Ranked>,
}

/// What a partition got beside what it was due.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// Its key.
    pub key: String,
    /// Its part of the recent activity, from 0 to 1.
    pub got: f64,
    /// Its part of the weights, from 0 to 1.
    pub due: f64,
}

/// How even recent admission was among the partitions in which jobs wait.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shares {
    /// Jain's index of (got / weight): 1 when all got their due, 1/n when one got everything. None: nobody got anything.
    pub jain: Option<f64>,
    /// Who got least of what it was due.
    pub worst: Option<Share>,
    /// Every partition that was looked at, the most active first; at most 1,000.
    pub shares: Vec<Share>,
}

/// The partitions of a policy that have the most of something, at most `limit` of each ranking.
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn rankings(
    conn: &mut PgConnection,
    policy: &PolicyName,
    limit: u32,
) -> Result<Rankings, OperateError> {
    const DOING: &str = "ranking partitions";
    let id = policy_id(conn, policy.as_str()).await?;
    let most: Vec<(String, String, f64)> =
        crate::sql::query_as(include_str!("../../queries/observe/top_partitions.sql"))
            .bind(id)
            .bind(i64::from(limit))
            .fetch_all(&mut *conn)
            .await
            .doing(DOING)?;
    let longest_wait = crate::sql::query_as(include_str!("../../queries/observe/longest_waits.sql"))
        .bind(id)
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await
        .doing(DOING)?;
    let of = |by: &str| {
        let ranked = most.iter().filter(|(found, _, _)| found == by);
        ranked.map(|(_, key, value)| Ranked { key: key.clone(), value: *value }).collect()
    };
    Ok(Rankings {
        waiting: of("waiting"),
        in_flight: of("in_flight"),
        longest_wait,
        lifetime: of("lifetime"),
    })
}

/// What the partitions of a policy in which jobs wait got of late, by its half-life (none: nothing is forgotten), beside what their weights say.
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn shares(
    conn: &mut PgConnection,
    policy: &PolicyName,
    half_life: Option<Duration>,
) -> Result<Shares, OperateError> {
    let id = policy_id(conn, policy.as_str()).await?;
    let rows: Vec<(String, f64, f64)> =
        crate::sql::query_as(include_str!("../../queries/observe/read_shares.sql"))
            .bind(id)
            .bind(half_life.map_or(0.0, |time| time.as_secs_f64()))
            .bind(SHARERS)
            .fetch_all(conn)
            .await
            .doing("reading shares")?;
    Ok(weigh(rows))
}

/// R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness", DEC-TR-301 (1984): (sum x)^2 / (n sum x^2).
fn weigh(rows: Vec<(String, f64, f64)>) -> Shares {
    let all: f64 = rows.iter().map(|(_, got, _)| got).sum();
    let weights: f64 = rows.iter().map(|(_, _, weight)| weight).sum();
    let fair: Vec<f64> = rows.iter().map(|(_, got, weight)| got / weight).collect();
    let (sum, squares) = (fair.iter().sum::<f64>(), fair.iter().map(|x| x * x).sum::<f64>());
    let jain = (squares > 0.0).then(|| sum * sum / (fair.len() as f64 * squares));
    let part = |some: f64, of: f64| if of > 0.0 { some / of } else { 0.0 };
    let shares: Vec<Share> = rows
        .into_iter()
        .map(|(key, got, weight)| Share { key, got: part(got, all), due: part(weight, weights) })
        .collect();
    let least = |a: &&Share, b: &&Share| (a.got / a.due).total_cmp(&(b.got / b.due));
    let worst = jain.and_then(|_| shares.iter().min_by(least).cloned());
    Shares { jain, worst, shares }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(&str, f64, f64)]) -> Shares {
        weigh(rows.iter().map(|(key, got, weight)| ((*key).to_owned(), *got, *weight)).collect())
    }

    #[test]
    fn shares_by_weight_are_perfectly_fair() {
        let shares = of(&[("a", 30.0, 3.0), ("b", 10.0, 1.0)]);
        assert_eq!(shares.jain, Some(1.0));
        assert_eq!((shares.shares[0].got, shares.shares[0].due), (0.75, 0.75));
    }

    #[test]
    fn one_who_gets_everything_leaves_one_nth() {
        let shares = of(&[("a", 10.0, 1.0), ("b", 0.0, 1.0)]);
        assert_eq!(shares.jain, Some(0.5));
        assert_eq!(shares.worst.map(|worst| worst.key), Some("b".to_owned()));
    }

    #[test]
    fn nothing_is_said_of_nobody() {
        assert_eq!((of(&[]).jain, of(&[("a", 0.0, 1.0)]).jain), (None, None));
    }
}
