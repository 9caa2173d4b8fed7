//! A page into the database: one transaction; if it refuses an event, each event in its own.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::event::{Bad, Push};
use super::page::{Counts, Page};
use crate::error::{Doing, FeedError};

/// Writes a page, received at `now`, and says what it brought.
///
/// # Errors
/// When the database does not answer: then nothing of the page is written.
pub(super) async fn write(
    conn: &mut PgConnection,
    page: Page,
    run: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Counts, FeedError> {
    let mut counts = page.counts;
    match together(conn, &page.pushes, &page.bad, run, now).await {
        Ok(written) => counts += written,
        Err(error) if is_refusal(&error) => {
            for push in &page.pushes {
                counts += alone(conn, std::slice::from_ref(push), &[], run, now).await?;
            }
            for bad in &page.bad {
                counts += alone(conn, &[], std::slice::from_ref(bad), run, now).await?;
            }
        }
        Err(error) => return Err(error).doing("writing a page"),
    }
    Ok(counts)
}

/// Whether the database refused the data, rather than failed.
pub(super) fn is_refusal(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| ["22", "23", "54"].iter().any(|class| code.starts_with(class)))
}

async fn alone(
    conn: &mut PgConnection,
    pushes: &[(Push, String)],
    bad: &[(Bad, String)],
    run: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Counts, FeedError> {
    match together(conn, pushes, bad, run, now).await {
        Err(error) if is_refusal(&error) => {
            tracing::error!(
                github_id = pushes.first().map(|(push, _)| push.github_id),
                "the database refuses an event"
            );
            Ok(Counts { failed: 1, ..Counts::default() })
        }
        written => written.doing("writing an event"),
    }
}

async fn together(
    conn: &mut PgConnection,
    pushes: &[(Push, String)],
    bad: &[(Bad, String)],
    run: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Counts, sqlx::Error> {
    let mut tx = conn.begin().await?;
    let new = insert_events(&mut tx, pushes, run, now).await?;
    let reactivated = insert_stubs(&mut tx, pushes, &new, now).await?;
    if !bad.is_empty() {
        quarantine(&mut tx, bad, run, now).await?;
    }
    tx.commit().await?;
    let created = new.iter().filter(|new| **new).count();
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    Ok(Counts {
        created: count(created),
        duplicates: count(pushes.len() - created),
        quarantined: count(bad.len()),
        reactivated,
        ..Counts::default()
    })
}

/// Which of them are new.
async fn insert_events(
    tx: &mut PgConnection,
    pushes: &[(Push, String)],
    run: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<Vec<bool>, sqlx::Error> {
    fn all<T>(pushes: &[(Push, String)], of: impl Fn(&Push) -> T) -> Vec<T> {
        pushes.iter().map(|(push, _)| of(push)).collect()
    }
    let rows: Vec<(i64, DateTime<Utc>)> =
        sqlx::query_as(include_str!("../../queries/ingest/insert_events.sql"))
            .bind(run)
            .bind(now)
            .bind(all(pushes, |push| push.github_id))
            .bind(all(pushes, |push| push.created_at))
            .bind(all(pushes, |push| push.actor.id))
            .bind(all(pushes, |push| push.repository.id))
            .bind(all(pushes, |push| push.push_id))
            .bind(all(pushes, |push| push.git_ref.clone()))
            .bind(all(pushes, |push| push.head.clone()))
            .bind(all(pushes, |push| push.before.clone()))
            .bind(all(pushes, |push| push.public))
            .bind(pushes.iter().map(|(_, raw)| raw.as_str()).collect::<Vec<_>>())
            .fetch_all(tx)
            .await?;
    let new: std::collections::HashSet<_> = rows.into_iter().collect();
    Ok(pushes.iter().map(|(push, _)| new.contains(&(push.github_id, push.created_at))).collect())
}

/// What the newest mention says of an entity, and what new events add.
#[derive(Default)]
struct Stub {
    mentioned_at: DateTime<Utc>,
    latest_new: Option<DateTime<Utc>>,
    login: Option<String>,
    display_login: Option<String>,
    avatar_url: Option<String>,
    full_name: Option<String>,
    name: Option<String>,
    api_url: Option<String>,
}

fn stubs(pushes: &[(Push, String)], new: &[bool]) -> BTreeMap<(&'static str, i64), Stub> {
    let mut stubs: BTreeMap<(&'static str, i64), Stub> = BTreeMap::new();
    for ((push, _), new) in pushes.iter().zip(new) {
        let (actor, repository) = (&push.actor, &push.repository);
        let name = repository.full_name.rsplit('/').next();
        let of_actor = Stub {
            login: Some(actor.login.clone()),
            display_login: actor.display_login.clone(),
            avatar_url: actor.avatar_url.clone(),
            api_url: actor.api_url.clone(),
            ..Stub::default()
        };
        let of_repository = Stub {
            full_name: Some(repository.full_name.clone()),
            name: name.map(str::to_owned),
            api_url: repository.api_url.clone(),
            ..Stub::default()
        };
        for (key, told) in [(("actor", actor.id), of_actor), (("repository", repository.id), of_repository)] {
            let stub = stubs.entry(key).or_default();
            let latest_new = stub.latest_new.max(new.then_some(push.created_at));
            let mentioned_at = stub.mentioned_at;
            if push.created_at >= mentioned_at {
                *stub = Stub { mentioned_at: push.created_at, ..told };
            }
            stub.latest_new = latest_new;
        }
    }
    stubs
}

/// Writes stubs in key order, and makes entities that new events mention eligible again; how many.
async fn insert_stubs(
    tx: &mut PgConnection,
    pushes: &[(Push, String)],
    new: &[bool],
    now: DateTime<Utc>,
) -> Result<i32, sqlx::Error> {
    let stubs = stubs(pushes, new);
    let (kinds, ids): (Vec<&str>, Vec<i64>) = stubs.keys().copied().unzip();
    let all = |of: fn(&Stub) -> Option<String>| stubs.values().map(of).collect::<Vec<_>>();
    let latest: Vec<Option<DateTime<Utc>>> = stubs.values().map(|stub| stub.latest_new).collect();
    sqlx::query(include_str!("../../queries/ingest/upsert_stubs.sql"))
        .bind(now)
        .bind(&kinds)
        .bind(&ids)
        .bind(all(|stub| stub.login.clone()))
        .bind(all(|stub| stub.display_login.clone()))
        .bind(all(|stub| stub.avatar_url.clone()))
        .bind(all(|stub| stub.full_name.clone()))
        .bind(all(|stub| stub.name.clone()))
        .bind(all(|stub| stub.api_url.clone()))
        .bind(&latest)
        .execute(&mut *tx)
        .await?;
    let done = sqlx::query(include_str!("../../queries/ingest/reactivate.sql"))
        .bind(&kinds)
        .bind(&ids)
        .bind(latest.iter().map(Option::is_some).collect::<Vec<_>>())
        .execute(tx)
        .await?;
    Ok(i32::try_from(done.rows_affected()).unwrap_or(i32::MAX))
}

pub(super) async fn quarantine(
    tx: &mut PgConnection,
    bad: &[(Bad, String)],
    run: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    sqlx::query(include_str!("../../queries/ingest/quarantine.sql"))
        .bind(run)
        .bind(now)
        .bind(bad.iter().map(|(bad, _)| bad.fingerprint.to_vec()).collect::<Vec<_>>())
        .bind(bad.iter().map(|(bad, _)| bad.code).collect::<Vec<_>>())
        .bind(bad.iter().map(|(bad, _)| bad.detail.as_str()).collect::<Vec<_>>())
        .bind(bad.iter().map(|(_, raw)| raw.as_str()).collect::<Vec<_>>())
        .execute(tx)
        .await?;
    Ok(())
}
