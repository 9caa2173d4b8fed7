//! The four doors of staging, so that a test can go through each with the same jobs.

use chrono::{DateTime, Utc};
use fairgate::{Context, DatabaseError, NewJob, StageError};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    RustOne,
    RustMany,
    SqlOne,
    SqlMany,
}

pub(crate) const DOORS: [Door; 4] = [Door::RustOne, Door::RustMany, Door::SqlOne, Door::SqlMany];

/// A job as a producer of any language writes it down.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) task: String,
    pub(crate) payload: String,
    pub(crate) context: String,
    pub(crate) partition_key: Option<String>,
    pub(crate) priority: i32,
    pub(crate) run_at: Option<DateTime<Utc>>,
    pub(crate) queue_name: Option<String>,
    pub(crate) max_attempts: Option<i32>,
}

/// The id of a job and what became of it.
pub(crate) type Answer = (Uuid, String);

impl Draft {
    /// A job with this context, the text of a JSON object.
    pub(crate) fn new(context: impl Into<String>) -> Self {
        Self {
            task: "work".to_owned(),
            payload: "{}".to_owned(),
            context: context.into(),
            partition_key: None,
            priority: 0,
            run_at: None,
            queue_name: None,
            max_attempts: None,
        }
    }

    pub(crate) fn of(tenant: &str) -> Self {
        Self::new(json!({ "tenant": tenant }).to_string())
    }

    pub(crate) fn keyed(key: &str) -> Self {
        Self { partition_key: Some(key.to_owned()), ..Self::new("{}") }
    }

    fn new_job(&self) -> Result<NewJob, StageError> {
        let context = Context::parse(&self.context).map_err(fairgate::stage::JobError::from)?;
        let mut job =
            NewJob::new(self.task.as_str()).payload_json(self.payload.as_str())?.context(&context)?;
        job = job.priority(self.priority);
        if let Some(key) = &self.partition_key {
            job = job.partition_key(key.parse().expect("a key that Rust takes"));
        }
        if let Some(at) = self.run_at {
            job = job.run_at(at);
        }
        if let Some(name) = &self.queue_name {
            job = job.queue_name(name.as_str());
        }
        Ok(match self.max_attempts {
            Some(attempts) => job.max_attempts(attempts),
            None => job,
        })
    }

    /// One object of the array that `fairgate.stage_many` takes; payload and context go in as they are.
    fn object(&self) -> String {
        let rest = json!({
            "task": self.task, "partition_key": self.partition_key, "priority": self.priority, "run_at": self.run_at,
            "queue_name": self.queue_name, "max_attempts": self.max_attempts,
        });
        let rest = rest.to_string();
        format!(r#"{{"payload":{},"context":{},{}"#, self.payload, self.context, &rest[1..])
    }
}

impl Door {
    pub(crate) async fn stage(
        self,
        conn: &mut PgConnection,
        policy: &str,
        drafts: &[Draft],
    ) -> Result<Vec<Answer>, StageError> {
        let told = |s: &fairgate::Staged| (s.job_id.as_uuid(), s.outcome.as_str().to_owned());
        match self {
            Self::RustOne => {
                let mut answers = Vec::new();
                for draft in drafts {
                    answers.push(told(&fairgate::stage(conn, policy, &draft.new_job()?).await?));
                }
                Ok(answers)
            }
            Self::RustMany => {
                let jobs = drafts.iter().map(Draft::new_job).collect::<Result<Vec<_>, _>>()?;
                Ok(fairgate::stage_many(conn, policy, &jobs).await?.iter().map(told).collect())
            }
            Self::SqlOne => {
                let mut answers = Vec::new();
                for draft in drafts {
                    answers.push(sql_one(conn, policy, draft).await.map_err(said)?);
                }
                Ok(answers)
            }
            Self::SqlMany => {
                let array = drafts.iter().map(Draft::object).collect::<Vec<_>>().join(",");
                let sql =
                    "SELECT job_id, outcome FROM fairgate.stage_many($1, $2::text::json) ORDER BY ordinal";
                let rows = sqlx::query_as(sql).bind(policy).bind(format!("[{array}]")).fetch_all(conn).await;
                rows.map_err(said)
            }
        }
    }
}

async fn sql_one(conn: &mut PgConnection, policy: &str, draft: &Draft) -> sqlx::Result<Answer> {
    let sql = "SELECT job_id, outcome FROM fairgate.stage($1, $2, payload => $3::text::json, context => $4::text::jsonb,
                 partition_key => $5, priority => $6, run_at => $7, queue_name => $8, max_attempts => $9)";
    sqlx::query_as(sql)
        .bind(policy)
        .bind(&draft.task)
        .bind(&draft.payload)
        .bind(&draft.context)
        .bind(&draft.partition_key)
        .bind(draft.priority)
        .bind(draft.run_at)
        .bind(&draft.queue_name)
        .bind(draft.max_attempts)
        .fetch_one(conn)
        .await
}

/// What the database said, in the words of the library.
fn said(source: sqlx::Error) -> StageError {
    StageError::from(DatabaseError { doing: "staging", source })
}
