//! The scopes of a forced admission: all of them, waited for, and created where they have no row yet, so that what goes past them counts.

use std::collections::HashSet;

use sqlx::PgConnection;
use uuid::Uuid;

use super::ScopeOf;
use super::claim::{ScopedClaim, of, stand};
use super::lock::{existing, wait_for};
use crate::claim::Claim;
use crate::error::{DatabaseError, Doing};
use crate::lane::Rules;

/// Holds every scope of partitions that this transaction has locked.
pub(crate) async fn hold(
    conn: &mut PgConnection,
    rules: &Rules,
    claim: Claim,
) -> Result<ScopedClaim, DatabaseError> {
    if rules.scopes.is_none() {
        return Ok(ScopedClaim { claim, scopes: None });
    }
    let of = of(rules, &claim);
    let mut ids: Vec<Uuid> = of.iter().flatten().map(|scope| scope.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let existing = existing(conn, &ids).await?;
    if existing.len() < ids.len() {
        create(conn, rules, &claim, &of, &existing).await?;
    }
    let locked = wait_for(conn, &ids, None).await?;
    let scopes = stand(rules, &claim, of, &locked, HashSet::new())?;
    Ok(ScopedClaim { claim, scopes: Some(scopes) })
}

async fn create(
    conn: &mut PgConnection,
    rules: &Rules,
    claim: &Claim,
    of: &[Vec<ScopeOf>],
    existing: &HashSet<Uuid>,
) -> Result<(), DatabaseError> {
    let missing: Vec<(Uuid, &ScopeOf)> = (claim.ids.iter().zip(of))
        .flat_map(|(&partition, scopes)| scopes.iter().map(move |scope| (partition, scope)))
        .filter(|(_, scope)| !existing.contains(&scope.id))
        .collect();
    let gates = rules.policy.gates();
    crate::sql::query(include_str!("../../queries/scopes/create_scopes.sql"))
        .bind(rules.policy_id)
        .bind(claim.now)
        .bind(missing.iter().map(|(_, scope)| scope.id).collect::<Vec<_>>())
        .bind(missing.iter().map(|(_, scope)| gates[scope.gate].type_name()).collect::<Vec<_>>())
        .bind(missing.iter().map(|(_, scope)| gates[scope.gate].name().as_str()).collect::<Vec<_>>())
        .bind(missing.iter().map(|(_, scope)| scope.key.as_deref()).collect::<Vec<_>>())
        .bind(missing.iter().map(|(partition, _)| *partition).collect::<Vec<_>>())
        .execute(conn)
        .await
        .doing("creating scopes")?;
    Ok(())
}
