//! Claiming partitions and the scopes that they count towards.
//!
//! The policy's own scopes first, alone. Then partitions as without scopes, and their scopes; what is not to be had is left due. After that has
//! happened, for a while: look without locks, lock half of the scopes seen, and claim only partitions whose scopes are all held. Nobody waits for
//! a lock, so the order in which they are taken cannot deadlock; it decides only how often two tickers take what the other needs.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate_core::tick_plan::{Place, Scopes, assess_scope};
use fairgate_core::verdict::Verdict;
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::lock::{Locked, existing, held, lock};
use super::{ScopeOf, ScopeRules, array, policy_wide, scopes_of};
use crate::claim::{Claim, claim_with};
use crate::error::{DatabaseError, Doing};
use crate::lane::{OpenLane, Rules};

/// A claim, and the scopes that it holds.
#[derive(Debug)]
pub(crate) struct ScopedClaim {
    pub(crate) claim: Claim,
    pub(crate) scopes: Option<Claimed>,
}

impl ScopedClaim {
    /// The scopes whose slots the jobs of a claimed partition hold, as the text of an array.
    pub(crate) fn slots(&self, at: usize) -> String {
        self.scopes.as_ref().map(|scopes| scopes.slots[at].clone()).unwrap_or_default()
    }
}

/// What became of an attempt to claim.
#[derive(Debug)]
pub(crate) enum Attempt {
    Claimed(Box<ScopedClaim>),
    Nothing,
    /// The policy's own scope is used up, or others hold what is needed. Nothing was written; look again after this.
    Held(Duration),
}

/// What a claim knows of scopes.
#[derive(Debug)]
pub(crate) struct Claimed {
    /// The ids of `facts.held`.
    pub(super) ids: Vec<Uuid>,
    pub(crate) facts: Scopes,
    /// Every partition's scopes, in claim order.
    pub(super) of: Vec<Vec<ScopeOf>>,
    /// As text: those whose slots its jobs will hold.
    slots: Vec<String>,
    /// What it counted towards at its last look, if that is something else.
    pub(super) moved: Vec<bool>,
    pub(super) seqs: Vec<i64>,
    /// Scopes that have no row yet.
    pub(super) missing: HashSet<Uuid>,
}

/// Claims for one tick.
pub(crate) async fn claim(
    conn: &mut PgConnection,
    rules: &Rules,
    lane: &OpenLane,
    limit: u32,
    clock: Option<DateTime<Utc>>,
) -> Result<Attempt, DatabaseError> {
    let Some(scoped) = &rules.scopes else {
        let plain = include_str!("../../queries/claim/claim_due_partitions.sql");
        let claim = claim_with(conn, plain, rules.policy_id, lane, limit, clock, None).await?;
        let whole = |claim| Attempt::Claimed(Box::new(ScopedClaim { claim, scopes: None }));
        return Ok(claim.map_or(Attempt::Nothing, whole));
    };
    let mut locked = match lock_policy_wide(conn, rules, clock).await? {
        Ok(locked) => locked,
        Err(None) => return Ok(Attempt::Held(scoped.got_nothing())),
        Err(Some(wait)) => return Ok(Attempt::Held(wait)),
    };
    let claim = if scoped.is_cautious() {
        let Some(among) = look_and_lock(conn, lane, limit, clock, &mut locked).await? else {
            return Ok(Attempt::Held(scoped.got_nothing()));
        };
        let sql = AssertSqlSafe(scoped.claim_among.as_ref().to_owned());
        claim_with(conn, sql, rules.policy_id, lane, limit, clock, Some(among)).await?
    } else {
        let sql = AssertSqlSafe(scoped.claim.as_ref().to_owned());
        claim_with(conn, sql, rules.policy_id, lane, limit, clock, None).await?
    };
    let Some(claim) = claim else { return Ok(Attempt::Nothing) };
    let scopes = places(conn, rules, scoped, &claim, locked, clock).await?;
    scoped.got_something();
    Ok(Attempt::Claimed(Box::new(ScopedClaim { claim, scopes: Some(scopes) })))
}

/// Locks what every partition needs. Err: somebody else holds it, or it is used up and changes at the earliest after that time.
async fn lock_policy_wide(
    conn: &mut PgConnection,
    rules: &Rules,
    clock: Option<DateTime<Utc>>,
) -> Result<Result<Locked, Option<Duration>>, DatabaseError> {
    let wanted = policy_wide(&rules.policy, rules.policy_id);
    let locked = lock(conn, &wanted, clock).await?;
    let others: Vec<Uuid> = wanted.iter().copied().filter(|id| !locked.contains_key(id)).collect();
    if !existing(conn, &others).await?.is_empty() {
        return Ok(Err(None));
    }
    let now = match clock {
        Some(now) => now,
        None if locked.is_empty() => return Ok(Ok(locked)),
        None => crate::sql::query_scalar("SELECT clock_timestamp()")
            .fetch_one(conn)
            .await
            .doing("asking for the time")?,
    };
    for (gate, id) in rules.policy.gates().iter().enumerate().filter(|(_, g)| g.is_policy_wide()).zip(&wanted)
    {
        let Some(row) = locked.get(id).filter(|_| !gate.1.is_shadow()) else { continue };
        if let Verdict::Deny(denial) = assess_scope(&rules.policy, &held(row, gate.0)?, now).verdict {
            return Ok(Err(Some((denial.until - now).to_std().unwrap_or_default())));
        }
    }
    Ok(Ok(locked))
}

/// Looks at who is due without locking anybody, and locks half of their scopes. The partitions whose scopes are all held; None: there are none.
async fn look_and_lock(
    conn: &mut PgConnection,
    lane: &OpenLane,
    limit: u32,
    clock: Option<DateTime<Utc>>,
    locked: &mut Locked,
) -> Result<Option<Vec<Uuid>>, DatabaseError> {
    let mut avoid: Vec<Uuid> = Vec::new();
    for _ in 0..2 {
        let seen: Vec<(Uuid, Option<Vec<Uuid>>)> =
            crate::sql::query_as(include_str!("../../queries/scopes/peek.sql"))
                .bind(lane.shard_id)
                .bind(clock)
                .bind(&avoid)
                .bind(i64::from(limit) * 2)
                .fetch_all(&mut *conn)
                .await
                .doing("looking at due partitions")?;
        let mut wanted: Vec<Uuid> = Vec::new();
        let mut known = HashSet::new();
        for id in seen.iter().filter_map(|(_, scopes)| scopes.as_ref()).flatten() {
            if known.insert(*id) && !locked.contains_key(id) {
                wanted.push(*id);
            }
        }
        wanted.truncate(wanted.len().div_ceil(2));
        locked.extend(lock(conn, &wanted, clock).await?);
        let free = |scopes: &Option<Vec<Uuid>>| scopes.iter().flatten().all(|id| locked.contains_key(id));
        let among: Vec<Uuid> = seen.iter().filter(|(_, scopes)| free(scopes)).map(|(id, _)| *id).collect();
        if !among.is_empty() {
            return Ok(Some(among));
        }
        avoid.extend(wanted.iter().filter(|id| !locked.contains_key(id)));
    }
    Ok(None)
}

/// The scopes of every claimed partition.
pub(super) fn of(rules: &Rules, claim: &Claim) -> Vec<Vec<ScopeOf>> {
    let each = claim.facts.iter();
    each.map(|facts| scopes_of(&rules.policy, rules.policy_id, &facts.context, claim.now)).collect()
}

/// Where every claimed partition stands, and the scopes that are not locked yet.
async fn places(
    conn: &mut PgConnection,
    rules: &Rules,
    scoped: &ScopeRules,
    claim: &Claim,
    mut locked: Locked,
    clock: Option<DateTime<Utc>>,
) -> Result<Claimed, DatabaseError> {
    let of = of(rules, claim);
    let mut wanted: Vec<Uuid> = of.iter().flatten().map(|scope| scope.id).collect();
    wanted.retain(|id| !locked.contains_key(id));
    wanted.sort_unstable();
    wanted.dedup();
    locked.extend(lock(conn, &wanted, clock).await?);
    wanted.retain(|id| !locked.contains_key(id));
    let existing = existing(conn, &wanted).await?;
    if !existing.is_empty() {
        scoped.be_cautious();
    }
    let missing = wanted.into_iter().filter(|id| !existing.contains(id)).collect();
    stand(rules, claim, of, &locked, missing)
}

/// The same of scopes that are locked as far as they will be.
pub(super) fn stand(
    rules: &Rules,
    claim: &Claim,
    of: Vec<Vec<ScopeOf>>,
    locked: &Locked,
    missing: HashSet<Uuid>,
) -> Result<Claimed, DatabaseError> {
    let mut index: HashMap<Uuid, usize> = HashMap::new();
    let (mut ids, mut facts) = (Vec::new(), Scopes::default());
    let gates = rules.policy.gates();
    let (mut slots, mut moved, mut seqs) = (Vec::new(), Vec::new(), Vec::new());
    for (scopes, stored) in of.iter().zip(&claim.places) {
        let mut at = Some(Vec::with_capacity(scopes.len()));
        for scope in scopes {
            let Some(row) = locked.get(&scope.id) else {
                at = None;
                break;
            };
            let place = match index.get(&scope.id) {
                Some(&place) => place,
                None => {
                    ids.push(scope.id);
                    facts.held.push(held(row, scope.gate)?);
                    index.insert(scope.id, ids.len() - 1);
                    ids.len() - 1
                }
            };
            at.iter_mut().for_each(|at| at.push(place));
        }
        let hint: Vec<Uuid> = scopes.iter().filter(|s| s.key.is_some()).map(|s| s.id).collect();
        moved.push(stored.scopes.as_ref() != Some(&hint));
        seqs.push(stored.context_seq);
        slots.push(array(scopes.iter().filter(|s| gates[s.gate].holds_slots()).map(|s| s.id)));
        facts.places.push(Place {
            scopes: at,
            woken: stored.woken,
            since: stored.since.unwrap_or(claim.now),
        });
    }
    Ok(Claimed { ids, facts, of, slots, moved, seqs, missing })
}
