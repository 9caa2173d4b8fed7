//! JSON, as the database writes it.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::app::App;
use crate::error::{Doing, FeedError};
use crate::setup;
use crate::status::Status;

/// Events on a page, and at most.
const PAGE: (i64, i64) = (50, 200);

/// Which events; the newest that we received first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    /// Events older than this id of ours.
    cursor: Option<i64>,
    limit: Option<i64>,
    actor_id: Option<i64>,
    repository_id: Option<i64>,
    #[serde(rename = "ref")]
    git_ref: Option<String>,
}

fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn problem(status: StatusCode, what: &str) -> Response {
    json(status, serde_json::json!({ "error": what }).to_string())
}

/// The details are for the log.
pub(super) fn failed(error: &FeedError) -> Response {
    tracing::error!(%error, "a page");
    problem(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer; the log says more")
}

pub(super) async fn ready(State(app): State<Arc<App>>) -> Response {
    let ready = async {
        let mut conn = app.pool.acquire().await.doing("connecting")?;
        setup::is_migrated(&mut conn).await
    };
    match ready.await {
        Ok(true) => (StatusCode::OK, "ready\n").into_response(),
        Ok(false) => (StatusCode::SERVICE_UNAVAILABLE, "the database is not up to date\n").into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n").into_response(),
    }
}

pub(super) async fn read_status(app: &App) -> Result<Status, FeedError> {
    let mut conn = app.pool.acquire().await.doing("connecting")?;
    Status::read(app, &mut conn).await
}

pub(super) async fn status(State(app): State<Arc<App>>) -> Response {
    match read_status(&app).await {
        Ok(status) => json(StatusCode::OK, serde_json::to_string(&status).unwrap_or_default()),
        Err(error) => failed(&error),
    }
}

pub(super) async fn push_events(
    State(app): State<Arc<App>>,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Response {
    let filter = match filter {
        Ok(Query(filter)) => filter,
        Err(rejection) => return problem(StatusCode::BAD_REQUEST, &rejection.body_text()),
    };
    let limit = filter.limit.unwrap_or(PAGE.0);
    if !(1..=PAGE.1).contains(&limit) {
        return problem(StatusCode::BAD_REQUEST, &format!("limit must be 1 to {}", PAGE.1));
    }
    if filter.git_ref.as_ref().is_some_and(|git_ref| git_ref.contains('\0')) {
        return problem(StatusCode::BAD_REQUEST, "ref has a NUL");
    }
    let page: Result<String, _> = sqlx::query_scalar(include_str!("../../queries/web/push_events.sql"))
        .bind(filter.cursor)
        .bind(limit)
        .bind(filter.actor_id)
        .bind(filter.repository_id)
        .bind(filter.git_ref)
        .fetch_one(&app.pool)
        .await;
    match page.doing("listing events") {
        Ok(page) => json(StatusCode::OK, page),
        Err(error) => failed(&error),
    }
}

async fn one(
    app: &App,
    sql: &'static str,
    kind: Option<&str>,
    id: Result<Path<i64>, PathRejection>,
) -> Response {
    let Ok(Path(id)) = id else { return problem(StatusCode::BAD_REQUEST, "the id must be a whole number") };
    let found: Result<Option<String>, _> =
        sqlx::query_scalar(sql).bind(id).bind(kind).fetch_optional(&app.pool).await;
    match found.doing("reading") {
        Ok(Some(body)) => json(StatusCode::OK, body),
        Ok(None) => problem(StatusCode::NOT_FOUND, "there is none of this id"),
        Err(error) => failed(&error),
    }
}

pub(super) async fn push_event(
    State(app): State<Arc<App>>,
    id: Result<Path<i64>, PathRejection>,
) -> Response {
    one(&app, include_str!("../../queries/web/push_event.sql"), None, id).await
}

pub(super) async fn actor(State(app): State<Arc<App>>, id: Result<Path<i64>, PathRejection>) -> Response {
    one(&app, include_str!("../../queries/web/entity.sql"), Some("actor"), id).await
}

pub(super) async fn repository(
    State(app): State<Arc<App>>,
    id: Result<Path<i64>, PathRejection>,
) -> Response {
    one(&app, include_str!("../../queries/web/entity.sql"), Some("repository"), id).await
}
