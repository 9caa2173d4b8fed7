//! From the library's errors to kind, message and hint. What users read when something does not work is decided here.

mod database;

use std::fmt;
use std::process::ExitCode;

use fairgate::config::ConfigErrors;
use fairgate::force::ForceError;
use fairgate::migrate::MigrateError;
use fairgate::operate::OperateError;
use fairgate::overrides::OverrideError;
use fairgate::quarantine::QuarantineError;
use fairgate::registry::ApplyError;
use fairgate::stage::{JobError, StageError};
use fairgate::ticker::{BuildError, RunError};

/// Whose fault it is, which the exit code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It could have worked: exit code 1.
    Failed,
    /// Wrong use or configuration: exit code 2.
    Usage,
}

/// What went wrong, where, and what to do.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    message: String,
    causes: Vec<String>,
    hint: Option<String>,
}

impl CliError {
    /// Something that could have worked.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { kind: Kind::Failed, message: message.into(), causes: Vec::new(), hint: None }
    }

    /// Wrong use or configuration.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, ..Self::failed(message) }
    }

    /// Adds a line that says where or why; a text of several lines is kept together.
    pub(crate) fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Says what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
        })
    }

    fn maybe_hint(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }
}

/// What is echoed of a huge input is cut.
fn cut(text: &str) -> std::borrow::Cow<'_, str> {
    const MOST: usize = 2_000;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… (cut, {} bytes in all)", &text[..end], text.len()).into(),
        None => text.into(),
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", cut(&self.message))?;
        for cause in &self.causes {
            write!(f, "\n  {}", cut(cause).replace('\n', "\n  "))?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {}", cut(hint)),
            None => Ok(()),
        }
    }
}

impl From<ConfigErrors> for CliError {
    fn from(errors: ConfigErrors) -> Self {
        let message = match errors.problems().len() {
            1 => format!("{} has a problem", errors.file()),
            count => format!("{} has {count} problems", errors.file()),
        };
        let place = |problem| format!("{}:{problem}", errors.file());
        let causes = errors.problems().iter().map(place).collect();
        Self { causes, ..Self::usage(message) }
    }
}

impl From<StageError> for CliError {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Database(error) => error.into(),
            StageError::Job(error) => error.into(),
            StageError::UnknownPolicy { .. }
            | StageError::Retired { .. }
            | StageError::BadKey { .. }
            | StageError::BadJob { .. }
            | StageError::Key { .. } => Self::usage(error.to_string()).maybe_hint(error.hint()),
            StageError::QueueNotReady { .. } | StageError::BacklogFull { .. } => {
                Self::failed(error.to_string()).maybe_hint(error.hint())
            }
        }
    }
}

impl From<JobError> for CliError {
    fn from(error: JobError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<OverrideError> for CliError {
    fn from(error: OverrideError) -> Self {
        match error {
            OverrideError::Operate(error) => error.into(),
            OverrideError::Unreadable { .. } => Self::failed(error.to_string()),
            other => Self::usage(other.to_string()),
        }
    }
}

impl From<OperateError> for CliError {
    fn from(error: OperateError) -> Self {
        match error {
            OperateError::Database(error) => error.into(),
            OperateError::UnknownPolicy { .. } => {
                Self::usage(error.to_string()).hint("`fairgate policies` lists what is registered")
            }
            OperateError::UnknownPartition { ref policy, .. } => {
                let hint = format!("`fairgate partitions {policy}` lists those there are");
                Self::failed(error.to_string()).hint(hint)
            }
        }
    }
}

impl From<ForceError> for CliError {
    fn from(error: ForceError) -> Self {
        let message = error.to_string();
        match error {
            ForceError::Operate(error) => error.into(),
            ForceError::QueueNotReady { .. } => {
                Self::failed(message).hint("install the queue's own tables, then run `fairgate apply`")
            }
            ForceError::Rules(_) => Self::failed(message),
            ForceError::Halfway { admitted, source } => {
                let went = if admitted == 1 { "1 job".to_owned() } else { format!("{admitted} jobs") };
                Self::from(*source).cause(format!("{went} had been admitted before, and stay so"))
            }
        }
    }
}

impl From<QuarantineError> for CliError {
    fn from(error: QuarantineError) -> Self {
        let message = error.to_string();
        match error {
            QuarantineError::Operate(error) => error.into(),
            QuarantineError::Retired { .. } => Self::usage(message)
                .hint("nothing was restaged; put the policy back into the file and run `fairgate apply`"),
        }
    }
}

impl From<ApplyError> for CliError {
    fn from(error: ApplyError) -> Self {
        let message = error.to_string();
        match error {
            ApplyError::Database(error) => error.into(),
            ApplyError::SameRevision { .. } => {
                Self::usage(message).hint("nothing was registered; give the file a higher `revision`")
            }
            ApplyError::QueueCannotShow { .. } => Self::usage(message)
                .hint("nothing was registered; leave the setting out, or use another queue"),
            ApplyError::UnknownQueue { .. } => {
                Self::usage(message).hint("nothing was registered; add the queue under [queues]")
            }
        }
    }
}

impl From<BuildError> for CliError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Settings { problems } => Self {
                causes: problems.into_iter().map(|problem| format!("engine.{problem}")).collect(),
                ..Self::usage("the [engine] settings make no sense")
            },
            BuildError::Apply(error) => error.into(),
            BuildError::Database(error) => error.into(),
        }
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Database(error) => error.into(),
            RunError::NotMigrated => Self::not_migrated(),
        }
    }
}

impl From<MigrateError> for CliError {
    fn from(error: MigrateError) -> Self {
        use sqlx::migrate::MigrateError as Cause;
        let message = error.to_string();
        match error {
            MigrateError::Database(error) => error.into(),
            MigrateError::ServerTooOld { .. } => {
                Self::failed(message).hint("upgrade the server, or use another")
            }
            MigrateError::Migration(Cause::VersionMissing(_) | Cause::VersionMismatch(_)) => {
                Self::failed("schema fairgate was made by another version of fairgate")
                    .cause(message)
                    .hint("use the newest version of this program")
            }
            MigrateError::Migration(cause) => Self::migration(cause),
        }
    }
}
