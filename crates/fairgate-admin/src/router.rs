//! Which address leads where.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use crate::admin::Shared;
use crate::enter::enter;
use crate::failure::Failure;
use crate::{action, api, assets, health, metrics, page};

pub(crate) fn router(admin: Shared) -> Router {
    Router::new()
        .route("/", get(page::dashboard))
        .route("/policies", get(page::policies))
        .route("/policies/{name}", get(page::policy))
        .route("/partitions", get(page::partitions))
        .route("/partitions/{policy}", get(page::partitions_of))
        .route("/jobs", get(page::find_job))
        .route("/jobs/{id}", get(page::job))
        .route("/quarantine", get(page::quarantine))
        .route("/audit", get(page::audit))
        .route("/engine/{verb}", post(action::engine))
        .route("/policies/{name}/{verb}", post(action::policy))
        .route("/partitions/{policy}/{verb}", post(action::partition))
        .route("/jobs/{id}/{verb}", post(action::job))
        .route("/quarantine/{verb}", post(action::quarantine))
        .route("/assets/{version}/{name}", get(assets::get))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .nest("/api/v1", api::router())
        .fallback(|| async { Failure::not_found("there is no such page") })
        .layer(from_fn_with_state(admin.clone(), enter))
        .with_state(admin)
}
