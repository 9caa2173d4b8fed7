//! Gates of a coarser scope than the partition: locking scopes, settling them, and waking who waits for them.
//!
//! The plan is [`fairgate_core::tick_plan`]'s. Here: which scopes a partition counts towards, in which order they are locked, and what is written.

pub(crate) mod claim;
pub(crate) mod force;
mod lock;
pub(crate) mod settle;
pub(crate) mod wake;

pub(crate) use lock::context;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate_core::context::Context;
use fairgate_core::definition::Scope;
use fairgate_core::gate::{Gate, ScopeKey};
use fairgate_core::policy::Policy;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};

/// Ticks that lock scopes before partitions, after one that could not have all its scopes.
const CAUTIOUS_TICKS: u32 = 50;

/// How a claimed partition stands with its scopes.
const STANDS: &str = ", c.scopes, c.woken, c.context_seq, \
    CASE WHEN isfinite(c.due_at) THEN coalesce(c.waiting_since, c.due_at) ELSE c.waiting_since END AS since";

/// What a ticker keeps of a policy that has gates of a coarser scope.
#[derive(Debug, Clone)]
pub(crate) struct ScopeRules {
    /// The claim, which also reads how partitions stand with their scopes.
    claim: Arc<str>,
    /// The same among chosen partitions.
    claim_among: Arc<str>,
    mood: Arc<Mood>,
}

/// How this ticker gets on with the others.
#[derive(Debug, Default)]
struct Mood {
    cautious: AtomicU32,
    in_vain: AtomicU32,
}

impl ScopeRules {
    /// None: every gate counts the partition alone, and nothing is different.
    pub(crate) fn of(policy: &Policy) -> Option<Self> {
        policy.gates().iter().any(Gate::is_scoped).then(|| {
            let claim = include_str!("../queries/claim/claim_due_partitions.sql")
                .replace("/*stood*/", ", s.scopes, s.woken, s.context_seq, s.waiting_since")
                .replace("/*stands*/", STANDS);
            Self {
                claim_among: claim.replace("/*among*/", " AND s.id = ANY ($6)").into(),
                claim: claim.into(),
                mood: Arc::default(),
            }
        })
    }

    /// Whether this tick locks scopes first.
    fn is_cautious(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.mood.cautious.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    fn be_cautious(&self) {
        self.mood.cautious.store(CAUTIOUS_TICKS, Ordering::Relaxed);
    }

    fn got_something(&self) {
        self.mood.in_vain.store(0, Ordering::Relaxed);
    }

    /// How long to leave the others alone: 5 to 15 ms, and up to 250 ms while nothing is to be had.
    fn got_nothing(&self) -> Duration {
        let times = self.mood.in_vain.fetch_add(1, Ordering::Relaxed).min(6);
        let jitter = Uuid::new_v4().as_u128() % 10_000;
        let micros = (5_000 + u64::try_from(jitter).unwrap_or(0)) << times.saturating_sub(1);
        Duration::from_micros(micros.min(250_000))
    }
}

/// A scope that a partition counts towards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScopeOf {
    pub(crate) id: Uuid,
    /// Which gate of the policy.
    pub(crate) gate: usize,
    /// None: the policy's own.
    pub(crate) key: Option<String>,
}

/// The scopes of a partition with this context, in declared order. A gate whose scope the context does not say denies by itself.
pub(crate) fn scopes_of(
    policy: &Policy,
    policy_id: i32,
    context: &Context,
    now: DateTime<Utc>,
) -> Vec<ScopeOf> {
    let gates = policy.gates().iter().enumerate();
    let keys = gates.filter_map(|(at, gate)| Some((at, gate, gate.scope_key(context, now).ok()??)));
    keys.map(|(at, gate, key)| {
        let key = match key {
            ScopeKey::Policy => None,
            ScopeKey::Value(value) => Some(value.as_str().to_owned()),
        };
        ScopeOf { id: scope_id(policy_id, gate, key.as_deref()), gate: at, key }
    })
    .collect()
}

/// The ids of the scopes that every partition of the policy counts towards.
fn policy_wide(policy: &Policy, policy_id: i32) -> Vec<Uuid> {
    let gates = policy.gates().iter().filter(|gate| gate.is_policy_wide());
    gates.map(|gate| scope_id(policy_id, gate, None)).collect()
}

/// `fairgate.scope_id` of the database: the first half of a SHA-256.
fn scope_id(policy_id: i32, gate: &Gate, key: Option<&str>) -> Uuid {
    let mut digest = Sha256::new();
    digest.update(policy_id.to_be_bytes());
    digest.update([1]);
    digest.update(gate.type_name());
    digest.update([0]);
    digest.update(gate.name().as_str());
    match key {
        None => digest.update(b"\0p"),
        Some(key) => {
            digest.update(b"\0v");
            digest.update(key);
        }
    }
    let digest = digest.finalize();
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(half)
}

/// Remembers a policy's scopes beside it, and has those that wait looked at again.
pub(crate) async fn register(
    conn: &mut PgConnection,
    policy: &Policy,
    policy_id: i32,
) -> Result<(), DatabaseError> {
    crate::sql::query(include_str!("../queries/scopes/remember_policy_scopes.sql"))
        .bind(policy_id)
        .bind(policy_scopes(policy))
        .execute(&mut *conn)
        .await
        .doing("remembering the scopes of a policy")?;
    crate::sql::query(include_str!("../queries/scopes/unpark_policy.sql"))
        .bind(policy_id)
        .execute(conn)
        .await
        .doing("looking again at what waits for a scope")?;
    Ok(())
}

/// What `fairgate.policy.scopes` says of a policy; None without such gates.
fn policy_scopes(policy: &Policy) -> Option<String> {
    let scoped = policy.gates().iter().filter(|gate| gate.is_scoped());
    let gates: Vec<Value> = scoped
        .map(|gate| {
            let path = match gate.scope() {
                Scope::Path(path) => json!(path.segments().collect::<Vec<_>>()),
                Scope::Policy | Scope::Partition => Value::Null,
            };
            json!({ "kind": gate.type_name(), "gate": gate.name(), "path": path, "reads": gate.reads_context() })
        })
        .collect();
    (!gates.is_empty()).then(|| Value::from(gates).to_string())
}

/// The text of an array of ids, as the server reads it.
fn array(ids: impl Iterator<Item = Uuid>) -> String {
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    format!("{{{}}}", ids.join(","))
}
