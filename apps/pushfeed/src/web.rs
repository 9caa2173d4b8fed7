//! Pages and the API. They read the database and never contact GitHub.

mod api;
mod page;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::error::FeedError;

/// Every route.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page::show))
        .route("/health/live", get(|| async { "alive\n" }))
        .route("/health/ready", get(api::ready))
        .route("/status", get(api::status))
        .route("/api/push_events", get(api::push_events))
        .route("/api/push_events/{id}", get(api::push_event))
        .route("/api/actors/{id}", get(api::actor))
        .route("/api/repositories/{id}", get(api::repository))
        .with_state(app)
}

/// Serves until `stop`.
///
/// # Errors
/// When the address is taken.
pub async fn serve(app: Arc<App>, stop: CancellationToken) -> Result<(), FeedError> {
    let bind = app.config.bind;
    let listener = tokio::net::TcpListener::bind(bind).await.map_err(|error| {
        FeedError::failed(format!("cannot serve on {bind}: {error}")).hint("HTTP_BIND names another address")
    })?;
    let address = listener.local_addr().unwrap_or(bind);
    tracing::info!(address = %address, "serving http://{address}/");
    let served = axum::serve(listener, router(app)).with_graceful_shutdown(stop.cancelled_owned());
    served.await.map_err(|error| FeedError::failed(format!("serving: {error}")))
}
