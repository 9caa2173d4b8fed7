use std::collections::HashMap;

use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::sql::Unit;

/// What became of each admission that the database had something to say about: done, gone or busy.
pub(super) type Answers = HashMap<Uuid, String>;

/// One beat of many admissions. Those that were beaten are not in the answer.
pub(super) async fn heartbeats(conn: &mut PgConnection, beats: &[Uuid]) -> Result<Answers, DatabaseError> {
    let mut unit = Unit::begin(conn).await?;
    let sql = include_str!("../../queries/guard/heartbeats.sql");
    let answers: Vec<(Uuid, String)> =
        crate::sql::query_as(sql).bind(beats).fetch_all(&mut *unit).await.doing("recording heartbeats")?;
    unit.end().await?;
    Ok(answers.into_iter().collect())
}

/// The ends of many admissions, all of them answered.
pub(super) async fn finished_many(
    conn: &mut PgConnection,
    ids: &[Uuid],
    outcomes: &[&str],
) -> Result<Answers, DatabaseError> {
    let mut unit = Unit::begin(conn).await?;
    let sql = include_str!("../../queries/guard/finished_many.sql");
    let answers: Vec<(Uuid, String)> = crate::sql::query_as(sql)
        .bind(ids)
        .bind(outcomes)
        .fetch_all(&mut *unit)
        .await
        .doing("recording the ends of jobs")?;
    unit.end().await?;
    // Of two ends of one admission, one alone does something.
    let (done, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.1 == "done");
    Ok(others.into_iter().chain(done).collect())
}
