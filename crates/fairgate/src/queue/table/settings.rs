use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::queue::{Event, Ident, QueueError};

/// Where the id of a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdFrom {
    /// The sequence of the column, a bigint.
    #[default]
    Sequence,
    /// It is the id of the job, a uuid.
    JobId,
}

/// What it means that the row of a running job is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deleted {
    /// Somebody took it out.
    #[default]
    Removed,
    /// So the queue ends a job that succeeded.
    Succeeded,
}

/// What a row of another table says of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// A worker began it.
    Started,
    /// A worker completed it.
    Succeeded,
    /// The last attempt failed.
    Dead,
    /// It was taken out.
    Removed,
    /// Its worker gave it back, or was lost: it waits again.
    Returned,
}

/// Another table that gets a row for each job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// Its name, in the same schema.
    pub table: String,
    /// Columns, and the expressions over the job that fill them.
    pub columns: BTreeMap<String, String>,
    /// Only for jobs that meet this condition.
    pub only: Option<String>,
}

/// A row of another table that says what becomes of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    /// The other table, in the same schema.
    pub table: String,
    /// Its column with the job's id.
    pub job: String,
    /// What it says.
    pub means: Means,
    /// Whether it says so by going, not by coming.
    #[serde(default)]
    pub deleted: bool,
}

/// How to read a job back from its row, as expressions over its columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableBack {
    /// The payload, json or jsonb.
    pub payload: String,
    /// The priority, as jobs are staged with. None: 0.
    pub priority: Option<String>,
    /// When it may run again. None: now.
    pub run_at: Option<String>,
    /// Attempts made.
    pub attempts: Option<String>,
    /// The most attempts.
    pub max_attempts: Option<String>,
    /// What the last attempt ended with.
    pub last_error: Option<String>,
}

/// What `[queues.NAME]` of type `table` says. Expressions and conditions are SQL, run as the role that owns schema `fairgate`: who writes them is trusted as
/// much as who writes the database's functions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSettings {
    /// The table.
    pub table: String,
    /// Its column with the queue's own id.
    pub id: String,
    /// Where that id comes from.
    pub id_from: IdFrom,
    /// Columns, and the expressions over the job (task, payload, priority, queue_name, run_at, attempts, max_attempts, ..) that fill them.
    pub columns: BTreeMap<String, String>,
    /// The least and the greatest priority that a job may have.
    pub priorities: [i32; 2],
    /// The most attempts that a job may ask for.
    pub most_attempts: i32,
    /// Conditions over the row.
    pub started: Option<String>,
    /// It ended well.
    pub succeeded: Option<String>,
    /// An attempt failed, and the queue means to try again.
    pub failed: Option<String>,
    /// The last attempt failed.
    pub dead: Option<String>,
    /// Taken out, and the row stays.
    pub removed: Option<String>,
    /// What it means that a running job's row is deleted.
    pub deleted: Deleted,
    /// How to read a job back.
    pub back: Option<TableBack>,
    /// Channel and payload of a NOTIFY for each job.
    pub notify: Option<[String; 2]>,
    /// Other tables that get a row.
    pub also: Vec<Other>,
    /// Other tables whose rows say what becomes of a job.
    pub signs: Vec<Sign>,
}

impl TableBack {
    pub(super) fn columns(&self) -> String {
        let or = |value: &Option<String>, other: &str| value.clone().unwrap_or_else(|| other.to_owned());
        format!(
            "({})::json AS payload, ({})::int AS priority, coalesce({}, now()) AS run_at, ({})::int AS attempts, ({})::int AS max_attempts, ({})::text AS error",
            self.payload,
            or(&self.priority, "0"),
            or(&self.run_at, "now()"),
            or(&self.attempts, "0"),
            or(&self.max_attempts, "NULL"),
            or(&self.last_error, "NULL"),
        )
    }
}

impl TableSettings {
    /// The row's state, as one expression.
    pub(super) fn state(&self) -> String {
        let conditions = [
            (&self.dead, "dead"),
            (&self.succeeded, "succeeded"),
            (&self.removed, "removed"),
            (&self.started, "running"),
        ];
        let cases: Vec<String> = conditions
            .into_iter()
            .filter_map(|(condition, state)| Some(format!("WHEN ({}) THEN '{state}'", condition.as_ref()?)))
            .collect();
        match cases.is_empty() {
            true => "'waiting'".to_owned(),
            false => format!("CASE {} ELSE 'waiting' END", cases.join(" ")),
        }
    }

    /// What the conditions and signs show.
    pub(super) fn shows(&self) -> &'static [Event] {
        use Event::{Dead, Failed, Removed, Started, Succeeded};
        let sign = |means| self.signs.iter().any(|sign| sign.means == means);
        let started = self.started.is_some() || sign(Means::Started);
        match (started, self.failed.is_some() && self.back.is_some()) {
            (true, true) => Event::ALL,
            (true, false) => &[Started, Succeeded, Dead, Removed],
            (false, true) => &[Succeeded, Failed, Dead, Removed],
            (false, false) => &[Succeeded, Dead, Removed],
        }
    }

    /// Names that are names, and expressions that cannot end the statement around them.
    pub(super) fn check(&self) -> Result<(), QueueError> {
        let others = self.also.iter().flat_map(|other| other.columns.keys().chain([&other.table]));
        let signs = self.signs.iter().flat_map(|sign| [&sign.table, &sign.job]);
        for name in self.columns.keys().chain([&self.table, &self.id]).chain(others).chain(signs) {
            Ident::new(name)?;
        }
        let conditions = [&self.started, &self.succeeded, &self.failed, &self.dead, &self.removed];
        let back = self.back.iter().flat_map(|back| {
            let rest = [&back.priority, &back.run_at, &back.attempts, &back.max_attempts, &back.last_error];
            rest.into_iter().flatten().chain([&back.payload])
        });
        let also = self.also.iter().flat_map(|other| other.columns.values().chain(&other.only));
        let texts = self.columns.values().chain(conditions.into_iter().flatten());
        for text in texts.chain(back).chain(also).chain(self.notify.iter().flatten()) {
            super::super::expression::check(text)?;
        }
        Ok(())
    }
}
