use fairgate_core::definition::{DedupeUntil, Definition, GateKind, KeySource, OnConflict, Retry};
use fairgate_core::fairness::weighted::Cost;
use fairgate_core::policy::{Fairness, Policy};
use fairgate_core::template::{Part, Template};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use super::queues::upsert;
use super::{ApplyError, Options, QueueSpec, Source};
use crate::error::Doing;
use crate::queue::Event;

/// What became of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyOutcome {
    /// New.
    Registered {
        /// Its revision.
        revision: u32,
    },
    /// Its definition changed.
    Updated {
        /// The new revision.
        revision: u32,
    },
    /// Registered as it is.
    Unchanged {
        /// Its revision.
        revision: u32,
    },
    /// What is registered is newer; it stays in force.
    OlderLeftAlone {
        /// The revision in force.
        registered: u32,
    },
    /// Gone from the file: takes no more jobs, keeps those it has.
    Retired,
}

struct Found {
    id: i32,
    revision: u32,
    retired: bool,
    same: bool,
    known: bool,
}

pub(super) async fn register(
    conn: &mut PgConnection,
    queues: &[QueueSpec],
    policies: &[Policy],
    options: Options,
) -> Result<(Vec<i32>, Vec<(String, PolicyOutcome)>), ApplyError> {
    let mut tx = conn.begin().await.doing("registering")?;
    crate::sql::query(include_str!("../../queries/registry/lock_registry.sql"))
        .execute(&mut *tx)
        .await
        .doing("registering")?;
    let mut ids = Vec::with_capacity(queues.len());
    for spec in queues {
        ids.push(upsert(&mut tx, spec).await?);
    }
    let mut outcomes = Vec::with_capacity(policies.len());
    for policy in policies {
        outcomes.push((policy.name().to_string(), register_one(&mut tx, policy, options).await?));
    }
    if options.source == Source::File {
        let names: Vec<&str> = policies.iter().map(|p| p.name().as_str()).collect();
        let retired: Vec<String> =
            crate::sql::query_scalar(include_str!("../../queries/registry/retire_missing.sql"))
                .bind(names)
                .fetch_all(&mut *tx)
                .await
                .doing("retiring policies")?;
        outcomes.extend(retired.into_iter().map(|name| (name, PolicyOutcome::Retired)));
    }
    tx.commit().await.doing("registering")?;
    Ok((ids, outcomes))
}

async fn register_one(
    conn: &mut PgConnection,
    policy: &Policy,
    options: Options,
) -> Result<PolicyOutcome, ApplyError> {
    let definition = serde_json::to_string(&policy.definition())
        .map_err(|e| sqlx::Error::Encode(e.into()))
        .doing("writing a definition")?;
    let found = find(conn, policy, &definition).await?;
    let name = policy.name().to_string();
    let (revision, outcome) = match (&found, options.revision) {
        (None, given) => {
            let revision = given.unwrap_or(1);
            (revision, PolicyOutcome::Registered { revision })
        }
        (Some(old), given) if old.same && !old.retired && given.is_none_or(|g| g <= old.revision) => {
            return Ok(PolicyOutcome::Unchanged { revision: old.revision });
        }
        (Some(old), Some(given)) if given < old.revision => {
            return Ok(PolicyOutcome::OlderLeftAlone { registered: old.revision });
        }
        (Some(old), Some(given)) if given == old.revision && !old.same => {
            return Err(ApplyError::SameRevision { policy: name, revision: given });
        }
        (Some(old), None) if old.known && !old.same && !options.go_back => {
            return Ok(PolicyOutcome::OlderLeftAlone { registered: old.revision });
        }
        (Some(old), given) => {
            let revision = given.unwrap_or(if old.same { old.revision } else { old.revision + 1 });
            (
                revision,
                if old.same {
                    PolicyOutcome::Unchanged { revision }
                } else {
                    PolicyOutcome::Updated { revision }
                },
            )
        }
    };
    write(conn, policy, found.map(|f| f.id), revision, &definition, options.source).await?;
    Ok(outcome)
}

async fn find(
    conn: &mut PgConnection,
    policy: &Policy,
    definition: &str,
) -> Result<Option<Found>, ApplyError> {
    let row: Option<(i32, i32, bool, bool, bool)> =
        crate::sql::query_as(include_str!("../../queries/registry/find_policy.sql"))
            .bind(policy.name().as_str())
            .bind(definition)
            .fetch_optional(conn)
            .await
            .doing("looking up a policy")?;
    Ok(row.map(|(id, revision, retired, same, known)| Found {
        id,
        revision: revision.unsigned_abs(),
        retired,
        same,
        known,
    }))
}

/// A changed policy waits for the ticks that have begun, and whatever waits for its time is looked at again.
async fn write(
    conn: &mut PgConnection,
    policy: &Policy,
    id: Option<i32>,
    revision: u32,
    definition: &str,
    source: Source,
) -> Result<(), ApplyError> {
    let parsed = policy.definition();
    let (key_parts, shard_parts) = (parts(Some(&parsed.partition_by)), parts(parsed.shard_by.as_ref()));
    let key_name = key_name(&parsed);
    let source = match source {
        Source::File => "file",
        Source::Code => "code",
    };
    let revision = i32::try_from(revision).unwrap_or(i32::MAX);
    check_events(conn, policy, &parsed).await?;
    let write = |sql: &'static str| crate::sql::query_scalar::<i32>(sql);
    let known = if let Some(id) = id {
        let lock = include_str!("../../queries/registry/lock_policy.sql");
        crate::sql::query(lock).bind(id).execute(&mut *conn).await.doing("waiting for the policy's ticks")?;
        write(include_str!("../../queries/registry/update_policy.sql")).bind(id)
    } else {
        write(include_str!("../../queries/registry/insert_policy.sql")).bind(policy.name().as_str())
    };
    let written = known
        .bind(policy.queue().as_str())
        .bind(revision)
        .bind(definition)
        .bind(key_parts)
        .bind(shard_parts)
        .bind(source)
        .bind(key_name)
        .bind(parsed.retry.map(|retry| retry == Retry::Restage))
        .bind(parsed.max_pending.map(|jobs| i32::try_from(jobs).unwrap_or(i32::MAX)))
        .bind(parsed.dedupe.is_some_and(|d| d.until == DedupeUntil::Admitted))
        .bind(parsed.dedupe.is_some_and(|d| d.on_conflict == OnConflict::Replace))
        .fetch_optional(&mut *conn)
        .await
        .doing("writing a policy")?;
    let Some(written) = written else {
        let (policy, queue) = (policy.name().to_string(), policy.queue().to_string());
        return Err(ApplyError::UnknownQueue { policy, queue });
    };
    if id.is_some() {
        let rearm = include_str!("../../queries/registry/rearm_policy.sql");
        crate::sql::query(rearm)
            .bind(written)
            .execute(&mut *conn)
            .await
            .doing("looking again at what waits")?;
    }
    crate::scopes::register(conn, policy, written).await?;
    crate::sql::query(include_str!("../../queries/registry/remember_revision.sql"))
        .bind(written)
        .bind(revision)
        .bind(definition)
        .execute(conn)
        .await
        .doing("remembering a revision")?;
    Ok(())
}

/// A policy that needs to see what its queue cannot show is refused.
async fn check_events(
    conn: &mut PgConnection,
    policy: &Policy,
    definition: &Definition,
) -> Result<(), ApplyError> {
    let adaptive = definition.gates.iter().any(|gate| matches!(gate.kind, GateKind::Adaptive { .. }));
    let by_time = matches!(policy.fairness(), Fairness::Weighted { cost: Cost::Time, .. });
    let needs = [
        (definition.retry == Some(Retry::Restage), Event::Failed, "retry = \"restage\""),
        (adaptive, Event::Started, "an adaptive_concurrency gate"),
        (by_time, Event::Started, "fairness by worker time"),
    ];
    let sql = include_str!("../../queries/registry/queue_shows.sql");
    let queue = policy.queue().to_string();
    let shows: Option<Vec<String>> =
        crate::sql::query_scalar(sql).bind(&queue).fetch_optional(conn).await.doing("looking up a queue")?;
    let Some(shows) = shows else {
        return Err(ApplyError::UnknownQueue { policy: policy.name().to_string(), queue });
    };
    for (_, event, what) in needs.into_iter().filter(|(needed, ..)| *needed) {
        if !shows.iter().any(|shown| shown == event.as_str()) {
            return Err(ApplyError::QueueCannotShow {
                policy: policy.name().to_string(),
                queue,
                event: event.as_str(),
                what,
            });
        }
    }
    Ok(())
}

/// The one key of the context that is the partition key, where staging needs nothing else.
fn key_name(definition: &Definition) -> Option<&str> {
    let KeySource::Template(template) = &definition.partition_by else { return None };
    let [Part::Path(path)] = template.parts() else { return None };
    let mut names = path.segments();
    let only = names.next().filter(|_| names.next().is_none() && definition.shard_by.is_none())?;
    (!matches!(only, "priority" | "queue_name")).then_some(only)
}

/// The form that `fairgate.render` reads; None where a closure computes it.
fn parts(source: Option<&KeySource>) -> Option<String> {
    match source {
        Some(KeySource::Template(template)) => Some(template_parts(template).to_string()),
        Some(KeySource::Computed) | None => None,
    }
}

fn template_parts(template: &Template) -> Value {
    let part = |part: &Part| match part {
        Part::Literal(text) => json!(["l", text]),
        Part::Path(path) => {
            Value::Array(std::iter::once("p").chain(path.segments()).map(Value::from).collect())
        }
    };
    template.parts().iter().map(part).collect()
}
