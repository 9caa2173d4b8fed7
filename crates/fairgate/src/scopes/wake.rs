//! Waking those that wait for a scope: about as many as there are free slots, longest waiting first.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate_core::tick_plan::{HeldScope, WOKEN_HAVE, assess_scope, settled_states};
use fairgate_core::verdict::Verdict;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::lock::context;
use crate::claim::hold_policy_open;
use crate::error::{DatabaseError, Doing};
use crate::lane::{OpenLane, Rules};

/// Scopes that one wake-up looks at.
const SCOPES: usize = 50;
/// Wake-ups of a policy in a row.
const ROUNDS: usize = 20;

#[derive(sqlx::FromRow)]
struct Due {
    id: Uuid,
    gate: String,
    kind: String,
    in_flight: i64,
    states: Option<String>,
    context: String,
    woken: i64,
    now: DateTime<Utc>,
    revision: i32,
}

/// Policies one of whose scopes is to wake somebody, now or after `wait_us`.
pub(crate) async fn waking_policies(
    conn: &mut PgConnection,
    clock: Option<DateTime<Utc>>,
    policy: Option<&str>,
) -> Result<Vec<OpenLane>, DatabaseError> {
    crate::sql::query_as(include_str!("../../queries/scopes/list_waking_policies.sql"))
        .bind(clock)
        .bind(policy)
        .fetch_all(conn)
        .await
        .doing("listing scopes that are to wake somebody")
}

/// Wakes what the due scopes of a policy have room for. Says how many partitions were woken.
pub(crate) async fn wake(
    conn: &mut PgConnection,
    rules: &Rules,
    clock: Option<DateTime<Utc>>,
) -> Result<i64, DatabaseError> {
    let mut woken = 0;
    for _ in 0..ROUNDS {
        let (scopes, partitions) = wake_some(conn, rules, clock).await?;
        woken += partitions;
        if scopes < SCOPES {
            break;
        }
    }
    Ok(woken)
}

/// One transaction of two statements: locks, then a look at who waits that is younger than the locks. Scopes and partitions.
async fn wake_some(
    conn: &mut PgConnection,
    rules: &Rules,
    clock: Option<DateTime<Utc>>,
) -> Result<(usize, i64), DatabaseError> {
    let begin = include_str!("../../queries/claim/begin.sql");
    let mut tx = conn.begin_with(begin).await.doing("beginning a wake-up")?;
    if !hold_policy_open(&mut tx, rules.policy_id, rules.queue_id, 0).await?.0 {
        return Ok((0, 0));
    }
    let due: Vec<Due> = crate::sql::query_as(include_str!("../../queries/scopes/lock_due_scopes.sql"))
        .bind(rules.policy_id)
        .bind(clock)
        .fetch_all(&mut *tx)
        .await
        .doing("locking scopes that are to wake somebody")?;
    // Rules of another revision do not know what is free.
    let Some(now) = due.first().filter(|first| first.revision == rules.revision).map(|first| first.now)
    else {
        return Ok((0, 0));
    };
    let answers = due.iter().map(|scope| answer(rules, scope)).collect::<Result<Vec<_>, DatabaseError>>()?;
    let woken: Vec<i64> = crate::sql::query_scalar(include_str!("../../queries/scopes/wake_waiting.sql"))
        .bind(now)
        .bind(due.iter().map(|scope| scope.id).collect::<Vec<_>>())
        .bind(answers.iter().map(|a| a.wake).collect::<Vec<_>>())
        .bind(answers.iter().map(|a| a.base).collect::<Vec<_>>())
        .bind(answers.iter().map(|a| a.retry).collect::<Vec<_>>())
        .bind(answers.iter().map(|a| a.states.as_deref()).collect::<Vec<_>>())
        .fetch_all(&mut *tx)
        .await
        .doing("waking those that wait for a scope")?;
    tx.commit().await.doing("committing a wake-up")?;
    Ok((due.len(), woken.iter().sum()))
}

/// How many to wake for a scope, how many were woken before, and when to look again while more wait.
struct Answer {
    wake: i64,
    base: i64,
    retry: DateTime<Utc>,
    /// The state of its gate as of now.
    states: Option<String>,
}

fn answer(rules: &Rules, scope: &Due) -> Result<Answer, DatabaseError> {
    let gates = rules.policy.gates().iter();
    let place = gates.clone().position(|g| g.name().as_str() == scope.gate && g.type_name() == scope.kind);
    // A gate that is gone holds nobody: whoever waits for it is let out.
    let Some(gate) = place else {
        let retry = scope.now + Duration::from_secs(1);
        return Ok(Answer { wake: i64::from(i32::MAX), base: 0, retry, states: None });
    };
    let held = HeldScope {
        gate,
        context: context(&scope.context)?,
        in_flight: scope.in_flight,
        states: scope.states.clone(),
        waited: true,
        woken: scope.woken,
    };
    let assessed = assess_scope(&rules.policy, &held, scope.now);
    let states = Some(settled_states(&rules.policy, gate, &assessed, 0, scope.now));
    Ok(match assessed.verdict {
        Verdict::Admit(free) => {
            let free = i64::try_from(free.get()).unwrap_or(i64::MAX).min(i64::from(i32::MAX) / 2);
            let wake = (free - scope.woken).max(0);
            Answer { wake, base: scope.woken, retry: scope.now + WOKEN_HAVE, states }
        }
        Verdict::Deny(denial) => Answer { wake: 0, base: scope.woken, retry: denial.until, states },
    })
}
