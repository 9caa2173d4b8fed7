//! When the queue refuses a batch: halve it until the refused job stands alone, admit the rest, and set that one aside.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::admit::{Blame, Take, admit, blame};
use crate::error::{DatabaseError, Doing};
use crate::lane::Rules;

/// Refused jobs that one tick deals with; what is left waits for the next, so that a tick stays bounded.
const MOST_REFUSALS: u32 = 25;

/// What was taken although some jobs were refused.
#[derive(Debug, Default)]
pub(crate) struct Isolated {
    pub(crate) taken: HashMap<Uuid, u32>,
    pub(crate) refused: u32,
}

pub(crate) async fn admit_isolated(
    conn: &mut PgConnection,
    rules: &Rules,
    takes: Vec<Take>,
    counted: bool,
    now: DateTime<Utc>,
    clock: Option<DateTime<Utc>>,
    max_attempts: u16,
) -> Result<Isolated, DatabaseError> {
    let mut done = Isolated::default();
    let mut open = vec![takes];
    while let Some(mut takes) = open.pop() {
        if done.refused >= MOST_REFUSALS {
            break;
        }
        let single = match takes.as_slice() {
            [] => continue,
            [one] if one.count == 1 => match first_waiting_job(conn, one.partition).await? {
                Some(job) => Some(job),
                None => continue,
            },
            _ => None,
        };
        let mut savepoint = conn.begin().await.doing("isolating a refused job")?;
        match admit(&mut savepoint, rules, &takes, single, counted, now).await {
            Ok(taken) => {
                savepoint.commit().await.doing("isolating a refused job")?;
                for (partition, count) in taken {
                    *done.taken.entry(partition).or_default() += count;
                }
            }
            Err(error) if blame(&error) == Blame::Job => {
                savepoint.rollback().await.doing("isolating a refused job")?;
                match single {
                    Some(job) => {
                        set_aside(conn, job, &error.message(), clock, max_attempts).await?;
                        done.refused += 1;
                    }
                    None => open.extend(halves(&mut takes)),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Two halves, the one to try first last.
fn halves(takes: &mut Vec<Take>) -> [Vec<Take>; 2] {
    if let [one] = takes.as_slice() {
        let first = one.count / 2;
        return [
            vec![Take { count: one.count - first, ..one.clone() }],
            vec![Take { count: first, ..one.clone() }],
        ];
    }
    let rest = takes.split_off(takes.len() / 2);
    [rest, std::mem::take(takes)]
}

async fn first_waiting_job(conn: &mut PgConnection, partition: Uuid) -> Result<Option<Uuid>, DatabaseError> {
    let sql = include_str!("../queries/isolate/first_waiting_job.sql");
    crate::sql::query_scalar(sql).bind(partition).fetch_optional(conn).await.doing("finding the refused job")
}

async fn set_aside(
    conn: &mut PgConnection,
    job: Uuid,
    error: &str,
    clock: Option<DateTime<Utc>>,
    max_attempts: u16,
) -> Result<(), DatabaseError> {
    let later: Option<bool> =
        crate::sql::query_scalar(include_str!("../queries/isolate/postpone_refused.sql"))
            .bind(job)
            .bind(error)
            .bind(i32::from(max_attempts))
            .bind(clock)
            .fetch_optional(&mut *conn)
            .await
            .doing("postponing a refused job")?;
    if later.is_none() {
        crate::sql::query(include_str!("../queries/isolate/quarantine_refused.sql"))
            .bind(job)
            .bind(error)
            .bind(clock)
            .execute(conn)
            .await
            .doing("quarantining a refused job")?;
        tracing::warn!(job = %job, error, "the queue refused a job for the last time; it is quarantined");
    }
    Ok(())
}
