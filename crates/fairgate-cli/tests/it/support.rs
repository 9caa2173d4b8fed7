//! Running the binary in a folder of its own, and its outcome as a text for snapshots.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use fairgate_testkit::TestDb;
use tempfile::TempDir;

/// One queue and one policy without gates.
pub(crate) const PLAIN: &str = "\
[queues.main]
type = \"graphile_worker\"

[policies.webhooks]
queue = \"main\"
partition_by = \"account_id\"
";

/// A user in a folder of its own, with or without a database.
pub(crate) struct User {
    folder: TempDir,
    url: Option<String>,
}

/// How a run of the binary ended.
pub(crate) struct Ran {
    command: String,
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl User {
    /// Without a database.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: None }
    }

    /// With a database.
    pub(crate) fn of(database: &TestDb) -> Self {
        Self { url: Some(database.url().to_owned()), ..Self::new() }
    }

    /// With a database in which the policies of a configuration are registered.
    pub(crate) fn with_policies(database: &TestDb, config: &str) -> Self {
        let user = Self::of(database);
        user.write("fairgate.toml", config);
        user.run(&["apply"]).succeeds();
        user
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs with a text on stdin.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let written = child.stdin.take().unwrap().write_all(input.as_bytes());
        // A command that refuses its arguments reads no input.
        drop(written);
        Ran::new(arguments, child.wait_with_output().unwrap())
    }

    /// Starts without waiting for the end.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdin(Stdio::null()).spawn().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairgate"));
        command.args(arguments).current_dir(self.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in ["DATABASE_URL", "FAIRGATE_DATABASE_URL", "RUST_LOG", "COLUMNS"] {
            command.env_remove(name);
        }
        if let Some(url) = &self.url {
            command.env("FAIRGATE_DATABASE_URL", url);
        }
        command
    }
}

impl Ran {
    pub(crate) fn new(arguments: &[&str], output: Output) -> Self {
        Self {
            command: format!("fairgate {}", arguments.join(" ")),
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Panics unless the exit code is 0.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, 0, "{self}");
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{self}"))
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!(
            "$ {}\nexit code: {}\n--- stdout ---\n{}--- stderr ---\n{}",
            self.command, self.code, self.stdout, self.stderr
        );
        f.write_str(&without_ids(&text))
    }
}

/// Every UUID as `[id]`.
fn without_ids(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let candidate = rest.get(..36).filter(|word| uuid::Uuid::try_parse(word).is_ok());
        match candidate {
            Some(_) => {
                result.push_str("[id]");
                rest = &rest[36..];
            }
            None => {
                result.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    result
}
