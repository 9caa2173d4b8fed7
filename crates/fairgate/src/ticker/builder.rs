use std::collections::HashMap;
use std::sync::Arc;

use fairgate_core::id::{IdError, PolicyName, QueueName, Shard};
use fairgate_core::policy::Policy;
use sqlx::PgPool;
use uuid::Uuid;

use super::Ticker;
use crate::error::{DatabaseError, Doing};
use crate::queue::Queue;
use crate::registry::{self, ApplyError, Options, QueueSpec, Source};
use crate::settings::Settings;
use crate::sql::scope;
use crate::sweep::Sweeper;

/// Puts a ticker together.
#[derive(Debug)]
pub struct TickerBuilder {
    pool: PgPool,
    settings: Settings,
    only_policy: Option<String>,
    only_shard: Option<String>,
    policies: Vec<Policy>,
    queues: Vec<QueueSpec>,
    revision: Option<u32>,
    hooks: bool,
}

/// Why there is no ticker.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Settings that make no sense, all of them.
    #[error("{}", problems.join("\n"))]
    Settings {
        /// One line each: the key, what is wrong, what to do.
        problems: Vec<String>,
    },
    /// Registering failed.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The database did not answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl TickerBuilder {
    pub(super) fn new(pool: PgPool) -> Self {
        Self {
            pool,
            settings: Settings::default(),
            only_policy: None,
            only_shard: None,
            policies: Vec::new(),
            queues: Vec::new(),
            revision: None,
            hooks: true,
        }
    }

    /// The engine's knobs.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// A queue under the name that policies use.
    ///
    /// # Errors
    /// When `name` cannot be one.
    pub fn queue(mut self, name: &str, queue: impl Queue + 'static) -> Result<Self, IdError> {
        let name: QueueName = name.parse()?;
        self.queues.push(QueueSpec { name, queue: Arc::new(queue), max_waiting: None });
        Ok(self)
    }

    /// How many jobs the queue that was added last may hold that no worker has begun; 0 is any number. Without, it fits itself to the workers.
    #[must_use]
    pub fn max_waiting(mut self, jobs: u32) -> Self {
        if let Some(queue) = self.queues.last_mut() {
            queue.max_waiting = Some(jobs);
        }
        self
    }

    /// A policy of this program, with its closures.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policies.push(policy);
        self
    }

    /// The revision of this program's policies; without, a definition that was in force before counts as older.
    #[must_use]
    pub fn revision(mut self, revision: u32) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Serves this policy alone.
    #[must_use]
    pub fn only_policy(mut self, policy: &PolicyName) -> Self {
        self.only_policy = Some(policy.to_string());
        self
    }

    /// Serves this shard alone.
    #[must_use]
    pub fn only_shard(mut self, shard: &Shard) -> Self {
        self.only_shard = Some(shard.to_string());
        self
    }

    /// Whether to install the queues' triggers (yes unless said otherwise).
    #[must_use]
    pub fn hooks(mut self, hooks: bool) -> Self {
        self.hooks = hooks;
        self
    }

    /// Registers the queues and policies of this builder, then builds the ticker.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub async fn register(self) -> Result<Ticker, BuildError> {
        scope(self.settings.pooled, self.register_all()).await
    }

    async fn register_all(self) -> Result<Ticker, BuildError> {
        self.check_settings()?;
        let mut conn = self.pool.acquire().await.doing("connecting")?;
        let options =
            Options { source: Source::Code, revision: self.revision, hooks: self.hooks, go_back: false };
        let applied = registry::apply(&mut conn, &self.queues, &self.policies, options).await?;
        drop(conn);
        for (queue, state) in &applied.queues {
            if let Some(problem) = state.problem() {
                tracing::warn!(queue = %queue, problem, "the queue is not ready; staging works, admission waits");
            }
        }
        self.build()
    }

    /// Builds the ticker; what it serves is registered already.
    ///
    /// # Errors
    /// When the settings make no sense.
    pub fn build(self) -> Result<Ticker, BuildError> {
        self.check_settings()?;
        let own_queues: Vec<(String, Arc<dyn Queue>)> =
            self.queues.into_iter().map(|spec| (spec.name.into(), spec.queue)).collect();
        Ok(Ticker {
            id: Uuid::new_v4(),
            pool: self.pool,
            settings: self.settings,
            only_policy: self.only_policy,
            only_shard: self.only_shard,
            own_policies: self.policies,
            sweeper: Sweeper::new(own_queues.clone()),
            own_queues,
            hooks: self.hooks,
            rules: HashMap::new(),
            last_shard: 0,
            folded_since_vacuum: 0,
            carried: HashMap::new(),
            said: HashMap::new(),
        })
    }

    fn check_settings(&self) -> Result<(), BuildError> {
        let problems: Vec<String> =
            self.settings.problems().into_iter().map(|(key, problem)| format!("{key} {problem}")).collect();
        if problems.is_empty() { Ok(()) } else { Err(BuildError::Settings { problems }) }
    }
}
