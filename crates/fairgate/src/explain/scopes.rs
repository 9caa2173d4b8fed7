//! The scopes that a partition counts towards, as the next look would find them.

use chrono::{DateTime, Utc};
use fairgate_core::forecast::forecast_scope;
use fairgate_core::policy::Policy;
use fairgate_core::tick_plan::{HeldScope, assess_scope};
use fairgate_core::verdict::{Denial, Verdict};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Slot;
use super::partition::{Event, Hold, answer, gate_hold};
use super::read::Facts;
use crate::error::{DatabaseError, Doing};
use crate::scopes::{ScopeOf, scopes_of};
use crate::sql::query_as;

/// What a gate counts together that counts more than a partition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScopeStanding {
    /// The key, such as the account. None: the whole policy.
    pub key: Option<String>,
    /// Partitions that stand before this one, counted up to 1,000 of each kind: those that wait for it, and those that are due first.
    pub ahead: u64,
    /// Who holds its slots, when none is free: the oldest.
    pub slots: Vec<Slot>,
}

/// One scope in the snapshot.
#[derive(Debug)]
pub(super) struct ScopeFacts {
    of: ScopeOf,
    held: HeldScope,
    ahead: u64,
    /// What those may take first.
    jobs_ahead: u64,
    slots: Vec<Slot>,
}

#[derive(sqlx::FromRow)]
struct Row {
    in_flight: i64,
    states: Option<String>,
    waited: bool,
    context: Option<String>,
    woken: i64,
    ahead: i64,
    jobs_ahead: i64,
}

pub(super) async fn read(
    conn: &mut PgConnection,
    facts: &Facts,
    policy: &Policy,
    policy_id: i32,
    partition: Uuid,
) -> Result<Vec<ScopeFacts>, DatabaseError> {
    let of = scopes_of(policy, policy_id, &facts.context, facts.now);
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let gates = policy.gates();
    let rows: Vec<Row> = query_as(include_str!("../../queries/explain/read_scopes.sql"))
        .bind(policy_id)
        .bind(partition)
        .bind(of.iter().map(|scope| scope.id).collect::<Vec<_>>())
        .bind(of.iter().map(|scope| gates[scope.gate].name().as_str()).collect::<Vec<_>>())
        .bind(of.iter().map(|scope| scope.key.as_deref()).collect::<Vec<_>>())
        .bind(facts.now)
        .bind(facts.look_at)
        .fetch_all(&mut *conn)
        .await
        .doing("reading scopes")?;
    let mut scopes = Vec::with_capacity(of.len());
    for (of, row) in of.into_iter().zip(rows) {
        let context = match &row.context {
            Some(text) => crate::scopes::context(text)?,
            None => facts.context.clone(),
        };
        let held = HeldScope {
            gate: of.gate,
            context,
            in_flight: row.in_flight,
            states: row.states,
            waited: row.waited,
            woken: row.woken,
        };
        let full = matches!(assess_scope(policy, &held, facts.now).verdict, Verdict::Deny(_));
        let slots = if full && gates[of.gate].holds_slots() {
            query_as(include_str!("../../queries/explain/list_scope_holders.sql"))
                .bind(policy_id)
                .bind(of.id)
                .fetch_all(&mut *conn)
                .await
                .doing("listing who holds the slots of a scope")?
        } else {
            Vec::new()
        };
        let (ahead, jobs_ahead) =
            (row.ahead.unsigned_abs(), (row.jobs_ahead + row.woken).max(0).unsigned_abs());
        scopes.push(ScopeFacts { of, held, ahead, jobs_ahead, slots });
    }
    Ok(scopes)
}

impl ScopeFacts {
    /// Whose answer it is.
    pub(super) const fn gate(&self) -> usize {
        self.of.gate
    }

    /// What it would let go now, the cap in force, and why nothing goes.
    pub(super) fn answer(&self, policy: &Policy, now: DateTime<Utc>) -> (u64, Option<f64>, Option<Denial>) {
        answer(assess_scope(policy, &self.held, now))
    }

    pub(super) fn used(&self, policy: &Policy) -> Option<i64> {
        policy.gates()[self.of.gate].holds_slots().then_some(self.held.in_flight)
    }

    pub(super) fn standing(&self) -> ScopeStanding {
        ScopeStanding { key: self.of.key.clone(), ahead: self.ahead, slots: self.slots.clone() }
    }

    /// The first instant from `from` on at which it lets something go, and what holds the partition besides time.
    pub(super) fn hold(&self, policy: &Policy, from: DateTime<Utc>) -> (Option<DateTime<Utc>>, Vec<Hold>) {
        let gate = &policy.gates()[self.of.gate];
        if gate.is_shadow() {
            return (Some(from), Vec::new());
        }
        let seen = forecast_scope(policy, &self.held, from);
        let mut holds: Vec<Hold> = seen
            .lasting
            .iter()
            .map(|denial| {
                let hold = gate_hold(denial);
                Hold { why: format!("{} in {}", hold.why, self.words()), ..hold }
            })
            .collect();
        match seen.at {
            Some(at) => {
                let (free, ..) = self.answer(policy, at);
                if self.jobs_ahead >= free {
                    let (name, ahead, jobs) = (gate.name(), self.ahead, self.jobs_ahead);
                    let why = format!(
                        "gate {name}: {ahead} partitions stand before it in {} with {jobs} jobs, and there is room for {free}",
                        self.words()
                    );
                    holds.push(Hold { event: Event::Turn, why });
                }
            }
            // Its new numbers count from the next look on.
            None if holds.is_empty() => {
                let (.., denial) = self.answer(policy, from);
                holds.extend(denial.iter().map(gate_hold));
            }
            None => {}
        }
        (seen.at, holds)
    }

    fn words(&self) -> String {
        match &self.of.key {
            Some(key) => format!("scope {key:?}"),
            None => "the whole policy".to_owned(),
        }
    }
}
