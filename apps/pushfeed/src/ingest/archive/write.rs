//! A batch into the database, in one transaction with the progress of its file.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection};

use super::lines::Parsed;
use crate::error::{Doing, FeedError};
use crate::ingest::event::{Bad, Push};
use crate::ingest::page::Counts;
use crate::ingest::write::{is_refusal, quarantine};

/// A file's name and size.
type File<'f> = (&'f str, i64);

/// Writes a batch. If the database refuses an event, the others are written all the same.
///
/// # Errors
/// When the database does not answer: then nothing of the batch is written.
pub(super) async fn batch(
    conn: &mut PgConnection,
    file: File<'_>,
    parsed: &Parsed,
) -> Result<Counts, FeedError> {
    let lines = i64::try_from(parsed.lines).unwrap_or(i64::MAX);
    let all = together(conn, file, &parsed.pushes, &parsed.bad, lines).await;
    let mut counts = match all {
        Err(error) if is_refusal(&error) => one_by_one(conn, file, parsed, lines).await?,
        written => written.doing("writing a batch")?,
    };
    let seen = parsed.pushes.len() + parsed.bad.len();
    counts.seen = i32::try_from(seen).unwrap_or(i32::MAX) + parsed.ignored + parsed.failed;
    counts.ignored = parsed.ignored;
    counts.failed += parsed.failed;
    Ok(counts)
}

async fn one_by_one(
    conn: &mut PgConnection,
    file: File<'_>,
    parsed: &Parsed,
    lines: i64,
) -> Result<Counts, FeedError> {
    let mut counts = Counts::default();
    for push in &parsed.pushes {
        match together(conn, file, std::slice::from_ref(push), &[], 0).await {
            Err(error) if is_refusal(&error) => counts.failed += 1,
            written => counts += written.doing("writing an event")?,
        }
    }
    counts += together(conn, file, &[], &parsed.bad, lines).await.doing("writing bad events")?;
    Ok(counts)
}

async fn together(
    conn: &mut PgConnection,
    file: File<'_>,
    pushes: &[(Push, String)],
    bad: &[(Bad, String)],
    lines: i64,
) -> Result<Counts, sqlx::Error> {
    let mut tx = conn.begin().await?;
    let now = Utc::now();
    let created = if pushes.is_empty() { 0 } else { insert(&mut tx, pushes).await? };
    if !bad.is_empty() {
        quarantine(&mut tx, bad, None, now).await?;
    }
    sqlx::query(include_str!("../../../queries/ingest/advance_archive_file.sql"))
        .bind(file.0)
        .bind(file.1)
        .bind(lines)
        .bind(i64::try_from(created).unwrap_or(i64::MAX))
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    let count = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
    Ok(Counts {
        created: count(created),
        duplicates: count(pushes.len() as u64 - created),
        quarantined: count(bad.len() as u64),
        ..Counts::default()
    })
}

/// Events and what they mention; how many events are new.
async fn insert(tx: &mut PgConnection, pushes: &[(Push, String)]) -> Result<u64, sqlx::Error> {
    fn all<'p, T>(pushes: &'p [(Push, String)], of: impl Fn(&'p Push) -> T) -> Vec<T> {
        pushes.iter().map(|(push, _)| of(push)).collect()
    }
    let done = sqlx::query(include_str!("../../../queries/ingest/insert_archived_events.sql"))
        .bind(all(pushes, |push| push.github_id))
        .bind(all(pushes, |push| push.created_at))
        .bind(all(pushes, |push| push.actor.id))
        .bind(all(pushes, |push| push.repository.id))
        .bind(all(pushes, |push| push.push_id))
        .bind(all(pushes, |push| push.git_ref.as_str()))
        .bind(all(pushes, |push| push.head.as_str()))
        .bind(all(pushes, |push| push.before.as_deref()))
        .bind(all(pushes, |push| push.public))
        .bind(pushes.iter().map(|(_, raw)| raw.as_str()).collect::<Vec<_>>())
        .execute(&mut *tx)
        .await?;
    // One of each, with its newest mention in the batch, in key order.
    let mut actors: BTreeMap<i64, &Push> = BTreeMap::new();
    let mut repositories: BTreeMap<i64, &Push> = BTreeMap::new();
    for (push, _) in pushes {
        for (entities, id) in [(&mut actors, push.actor.id), (&mut repositories, push.repository.id)] {
            let newest = entities.entry(id).or_insert(push);
            if push.created_at > newest.created_at {
                *newest = push;
            }
        }
    }
    let latest = |entities: &BTreeMap<i64, &Push>| {
        entities.values().map(|push| push.created_at).collect::<Vec<DateTime<Utc>>>()
    };
    sqlx::query(include_str!("../../../queries/ingest/insert_archived_actors.sql"))
        .bind(actors.keys().copied().collect::<Vec<_>>())
        .bind(actors.values().map(|push| push.actor.login.as_str()).collect::<Vec<_>>())
        .bind(actors.values().map(|push| push.actor.display_login.as_deref()).collect::<Vec<_>>())
        .bind(actors.values().map(|push| push.actor.avatar_url.as_deref()).collect::<Vec<_>>())
        .bind(actors.values().map(|push| push.actor.api_url.as_deref()).collect::<Vec<_>>())
        .bind(latest(&actors))
        .execute(&mut *tx)
        .await?;
    sqlx::query(include_str!("../../../queries/ingest/insert_archived_repositories.sql"))
        .bind(repositories.keys().copied().collect::<Vec<_>>())
        .bind(repositories.values().map(|push| push.repository.full_name.as_str()).collect::<Vec<_>>())
        .bind(repositories.values().map(|push| push.repository.api_url.as_deref()).collect::<Vec<_>>())
        .bind(latest(&repositories))
        .execute(tx)
        .await?;
    Ok(done.rows_affected())
}
