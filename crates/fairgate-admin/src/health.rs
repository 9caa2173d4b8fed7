//! For load balancers and supervisors.

use axum::extract::State;
use axum::http::StatusCode;

use crate::admin::Shared;

/// The process answers.
pub(crate) async fn live() -> &'static str {
    "ok\n"
}

/// The database answers, and has our schema.
pub(crate) async fn ready(State(admin): State<Shared>) -> (StatusCode, &'static str) {
    let Ok(mut conn) = admin.pool.acquire().await else {
        return (StatusCode::SERVICE_UNAVAILABLE, "the database cannot be reached\n");
    };
    match fairgate::migrate::is_migrated(&mut conn).await {
        Ok(true) => (StatusCode::OK, "ok\n"),
        Ok(false) => {
            (StatusCode::SERVICE_UNAVAILABLE, "schema fairgate is missing or older than this program\n")
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n"),
    }
}
