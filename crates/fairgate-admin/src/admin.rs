use std::fmt;
use std::sync::Arc;

use axum::Router;
use fairgate::Settings;
use fairgate::force::Means;
use sqlx::PgPool;
use sqlx::pool::PoolConnection;

use crate::auth::Access;
use crate::csrf::Secret;
use crate::failure::Failure;
use crate::router::router;

/// The admin pages of one database.
#[derive(Clone)]
pub struct Admin {
    pub(crate) pool: PgPool,
    pub(crate) means: Means,
    pub(crate) access: Access,
    pub(crate) read_only: bool,
    pub(crate) local_only: bool,
    pub(crate) secret: Secret,
}

/// What every handler has.
pub(crate) type Shared = Arc<Admin>;

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admin")
            .field("access", &self.access)
            .field("read_only", &self.read_only)
            .field("local_only", &self.local_only)
            .finish_non_exhaustive()
    }
}

impl Admin {
    /// Pages of the database behind this pool; open to whoever reaches them, until [`access`](Self::access) says otherwise. A page uses one connection
    /// at a time.
    #[must_use]
    pub fn new(pool: PgPool) -> Self {
        Self {
            pool,
            means: Means::default(),
            access: Access::Open,
            read_only: false,
            local_only: false,
            secret: Secret::new(),
        }
    }

    /// The engine's knobs, which some numbers are shown beside.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.means.settings = settings;
        self
    }

    /// What forced admissions go by: policies with closures and queues of your own are given here, and the engine's knobs, too.
    #[must_use]
    pub fn means(mut self, means: Means) -> Self {
        self.means = means;
        self
    }

    /// Who may see them.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Refuses everything that changes something.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Refuses requests whose host is not this machine, so that no page of another site gets here by a name that it points at this machine.
    #[must_use]
    pub fn local_only(mut self, local_only: bool) -> Self {
        self.local_only = local_only;
        self
    }

    /// The pages as a router, to serve or to nest.
    pub fn router(self) -> Router {
        router(Arc::new(self))
    }

    pub(crate) fn engine(&self) -> &Settings {
        &self.means.settings
    }

    pub(crate) async fn connection(&self) -> Result<PoolConnection<sqlx::Postgres>, Failure> {
        self.pool.acquire().await.map_err(Failure::unreachable)
    }
}
