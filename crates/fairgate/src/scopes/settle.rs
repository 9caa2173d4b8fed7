//! Writing back what became of scopes and of the places of partitions.

use chrono::{DateTime, Utc};
use fairgate_core::tick_plan::{PlaceSettlement, ScopeSettlements};
use sqlx::PgConnection;
use uuid::Uuid;

use super::array;
use super::claim::{Claimed, ScopedClaim};
use crate::error::{DatabaseError, Doing};
use crate::lane::Rules;

/// What is written of the places of partitions.
#[derive(Default)]
struct Places {
    ids: Vec<Uuid>,
    waiting_on: Vec<Option<Uuid>>,
    since: Vec<Option<DateTime<Utc>>>,
    scopes: Vec<String>,
    keep: Vec<bool>,
}

/// Reports of scopes that have no row yet.
#[derive(Default)]
struct Reports {
    ids: Vec<Uuid>,
    kinds: Vec<&'static str>,
    gates: Vec<String>,
    keys: Vec<Option<String>>,
    seqs: Vec<i64>,
    contexts: Vec<String>,
}

/// Writes, in one statement, the scopes, the places that changed, and the scopes that are to be created. Comes after the partitions' settlement.
pub(crate) async fn settle(
    conn: &mut PgConnection,
    rules: &Rules,
    scoped: &ScopedClaim,
    settled: &ScopeSettlements,
) -> Result<(), DatabaseError> {
    let Some(scopes) = &scoped.scopes else { return Ok(()) };
    let number = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
    let touched: Vec<_> =
        scopes.ids.iter().zip(&settled.scopes).filter_map(|(id, s)| Some((*id, s.as_ref()?))).collect();
    let places = places(scoped, scopes, settled);
    let reports = reports(rules, scoped, scopes);
    if touched.is_empty() && places.ids.is_empty() && reports.ids.is_empty() {
        return Ok(());
    }
    crate::sql::query(include_str!("../../queries/scopes/settle_scopes.sql"))
        .bind(scoped.claim.now)
        .bind(touched.iter().map(|(id, _)| *id).collect::<Vec<_>>())
        .bind(touched.iter().map(|(_, s)| number(s.taken)).collect::<Vec<_>>())
        .bind(touched.iter().map(|(_, s)| number(s.slots)).collect::<Vec<_>>())
        .bind(touched.iter().map(|(_, s)| s.states.as_str()).collect::<Vec<_>>())
        .bind(touched.iter().map(|(_, s)| s.waited).collect::<Vec<_>>())
        .bind(touched.iter().map(|(_, s)| i32::try_from(s.woken).unwrap_or(0)).collect::<Vec<_>>())
        .bind(touched.iter().map(|(_, s)| s.due_at).collect::<Vec<_>>())
        .bind(places.ids)
        .bind(places.waiting_on)
        .bind(places.since)
        .bind(places.scopes)
        .bind(places.keep)
        .bind(rules.policy_id)
        .bind(reports.ids)
        .bind(reports.kinds)
        .bind(reports.gates)
        .bind(reports.keys)
        .bind(reports.seqs)
        .bind(reports.contexts)
        .execute(conn)
        .await
        .doing("settling scopes")?;
    Ok(())
}

/// Places that differ from what is stored: parked, woken or waiting before, or counting towards other scopes than at the last look.
fn places(scoped: &ScopedClaim, scopes: &Claimed, settled: &ScopeSettlements) -> Places {
    let mut places = Places::default();
    for (at, settlement) in settled.places.iter().enumerate() {
        let place = &scopes.facts.places[at];
        let (parked, since) = match *settlement {
            PlaceSettlement::Parked(scope, since) => (Some(scopes.ids[scope]), Some(since)),
            PlaceSettlement::Settled | PlaceSettlement::Left => (None, None),
        };
        let keep = *settlement == PlaceSettlement::Left;
        if scopes.moved[at] || (!keep && (parked.is_some() || place.woken)) {
            places.ids.push(scoped.claim.ids[at]);
            places.waiting_on.push(parked);
            places.since.push(since);
            places.scopes.push(array(scopes.of[at].iter().filter(|s| s.key.is_some()).map(|s| s.id)));
            places.keep.push(keep);
        }
    }
    places
}

fn reports(rules: &Rules, scoped: &ScopedClaim, scopes: &Claimed) -> Reports {
    let mut reports = Reports::default();
    if scopes.missing.is_empty() {
        return reports;
    }
    for (at, of) in scopes.of.iter().enumerate() {
        for scope in of.iter().filter(|scope| scopes.missing.contains(&scope.id)) {
            let gate = &rules.policy.gates()[scope.gate];
            reports.ids.push(scope.id);
            reports.kinds.push(gate.type_name());
            reports.gates.push(gate.name().to_string());
            reports.keys.push(scope.key.clone());
            reports.seqs.push(scopes.seqs[at]);
            reports.contexts.push(scoped.claim.facts[at].context.as_json().to_owned());
        }
    }
    reports
}
