//! The local HTTP endpoint that every delivery goes to. It alone says what was received.

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use chrono::{DateTime, Utc};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use super::rules::Route;
use super::tenants::Tenants;
use super::walk;
use crate::error::CliError;

/// The header that names a delivery: the job's id.
pub(super) const DELIVERY: &str = "x-github-delivery";
/// The header that names the policy that let it through.
pub(super) const POLICY: &str = "x-fairgate-policy";

/// A running endpoint; it stops when this is dropped.
pub(super) struct Endpoint {
    url: String,
    desk: Arc<Desk>,
    _stop: DropGuard,
}

/// A delivery that came in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Received {
    pub(super) job: Uuid,
    pub(super) place: usize,
    pub(super) at: DateTime<Utc>,
}

struct Desk {
    tenants: Arc<Tenants>,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    seen: HashSet<Uuid>,
    fresh: Vec<Received>,
}

impl Endpoint {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no port to be had.
    pub(super) async fn open(tenants: Arc<Tenants>) -> Result<Self, CliError> {
        let no_port =
            |error| CliError::failed(format!("the demo's endpoint found no port on 127.0.0.1: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
        let address = listener.local_addr().map_err(no_port)?;
        let desk = Arc::new(Desk { tenants, book: Mutex::default() });
        let app = Router::new().route("/deliveries", post(deliver)).with_state(desk.clone());
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move { axum::serve(listener, app).await }));
        Ok(Self { url: format!("http://{address}/deliveries"), desk, _stop: stop.drop_guard() })
    }

    /// Where to post to.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What has come in since this was asked last, every time that it came.
    pub(super) fn take(&self) -> Vec<Received> {
        std::mem::take(&mut self.desk.book().fresh)
    }
}

impl Desk {
    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        // A panic between two pushes leaves the book as sound as it was.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, job: Uuid, place: usize) {
        let mut book = self.book();
        book.fresh.push(Received { job, place, at: Utc::now() });
        if book.seen.insert(job)
            && let Some(tenant) = self.tenants.get(place)
        {
            tenant.add_received();
        }
    }
}

/// Takes a delivery, and 20 to 50 ms for the work that it stands for.
async fn deliver(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, &'static str) {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(job) = header(DELIVERY).and_then(|id| Uuid::parse_str(id).ok()) else {
        return (StatusCode::BAD_REQUEST, "the delivery has no id");
    };
    let place = header(POLICY)
        .and_then(Route::of_policy)
        .zip(walk::owner(&body))
        .and_then(|(route, owner)| desk.tenants.place(route, &owner));
    let Some(place) = place else {
        return (StatusCode::UNPROCESSABLE_ENTITY, "nobody expects such a delivery");
    };
    desk.record(job, place);
    let millis = 20 + job.as_u128() % 31;
    tokio::time::sleep(Duration::from_millis(u64::try_from(millis).unwrap_or(20))).await;
    (StatusCode::OK, "received")
}
