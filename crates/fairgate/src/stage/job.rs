use chrono::{DateTime, Utc};
use fairgate_core::context::{Context, ContextError};
use fairgate_core::id::PartitionKey;
use serde::Serialize;
use serde_json::value::RawValue;

/// A job to stage. Only the task is needed.
#[derive(Debug, Clone)]
pub struct NewJob {
    pub(crate) task: String,
    pub(crate) payload: String,
    pub(crate) context: String,
    pub(crate) partition_key: Option<String>,
    pub(crate) priority: i32,
    pub(crate) run_at: Option<DateTime<Utc>>,
    pub(crate) dedupe_key: Option<String>,
    pub(crate) queue_name: Option<String>,
    pub(crate) max_attempts: Option<i32>,
}

/// Why a payload or a context cannot be staged.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The payload is not JSON.
    #[error("the payload is not JSON: {0}")]
    Payload(#[source] serde_json::Error),
    /// The context is not a JSON object.
    #[error(transparent)]
    Context(#[from] ContextError),
}

impl NewJob {
    /// A job for the task that the queue's worker knows by this name, with the payload `{}`, no context, priority 0, due at once.
    pub fn new(task: impl Into<String>) -> Self {
        Self {
            task: task.into(),
            payload: "{}".to_owned(),
            context: "{}".to_owned(),
            partition_key: None,
            priority: 0,
            run_at: None,
            dedupe_key: None,
            queue_name: None,
            max_attempts: None,
        }
    }

    /// What the task is given.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    pub fn payload<T: Serialize + ?Sized>(mut self, payload: &T) -> Result<Self, JobError> {
        self.payload = serde_json::to_string(payload).map_err(JobError::Payload)?;
        Ok(self)
    }

    /// What the task is given, as JSON text that is kept byte for byte.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub fn payload_json(mut self, text: impl Into<String>) -> Result<Self, JobError> {
        let text = text.into();
        serde_json::from_str::<&RawValue>(&text).map_err(JobError::Payload)?;
        self.payload = text;
        Ok(self)
    }

    /// What the policy's templates, gates and weights read: a JSON object.
    ///
    /// # Errors
    /// When the value is not an object, or holds what jsonb cannot.
    pub fn context<T: Serialize>(mut self, context: &T) -> Result<Self, JobError> {
        self.context = Context::from_serialize(context)?.as_json().to_owned();
        Ok(self)
    }

    /// The partition, instead of the one that the policy's `partition_by` computes.
    #[must_use]
    pub fn partition_key(mut self, key: PartitionKey) -> Self {
        self.partition_key = Some(key.into());
        self
    }

    /// Smaller goes first within the partition.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Not to be admitted before this time.
    #[must_use]
    pub fn run_at(mut self, at: DateTime<Utc>) -> Self {
        self.run_at = Some(at);
        self
    }

    /// Of the jobs of a policy with the same key one is enough: what happens to this one while another holds the key is the policy's `dedupe`.
    /// At most 10,000 bytes.
    #[must_use]
    pub fn dedupe_key(mut self, key: impl Into<String>) -> Self {
        self.dedupe_key = Some(key.into());
        self
    }

    /// The queue's own queue name, where it has such; also part of the context that templates read.
    #[must_use]
    pub fn queue_name(mut self, name: impl Into<String>) -> Self {
        self.queue_name = Some(name.into());
        self
    }

    /// How often the queue tries.
    #[must_use]
    pub fn max_attempts(mut self, attempts: i32) -> Self {
        self.max_attempts = Some(attempts);
        self
    }

    /// The context with `priority` and `queue_name` added unless the user set them, as the database adds them.
    pub(crate) fn context_for_keys(&self) -> Result<Context, JobError> {
        let mut object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&self.context).map_err(JobError::Payload)?;
        object.entry("priority").or_insert(self.priority.into());
        if let Some(name) = &self.queue_name {
            object.entry("queue_name").or_insert_with(|| name.as_str().into());
        }
        Ok(Context::from_serialize(&object)?)
    }
}
