//! A feed of its own for each test, time that passes on demand, and the binary.

use std::collections::BTreeMap;
use std::process::Output;
use std::time::Duration;

use fairgate_testkit::TestDb;
use pushfeed::enrich::{Cycle, enrich};
use pushfeed::ingest::{Counts, Polled, poll};
use pushfeed::{App, Config, setup};
use sqlx::AssertSqlSafe;
use tempfile::TempDir;

/// A program with a database of its own, which answers from files.
pub(crate) struct Feed {
    pub(crate) db: TestDb,
    pub(crate) app: App,
    environment: BTreeMap<String, String>,
    _folder: Option<TempDir>,
}

impl Feed {
    /// A scenario that is compiled in.
    pub(crate) async fn of(scenario: &str) -> Self {
        Self::with(&[("GITHUB_FIXTURE_SCENARIO", scenario)]).await
    }

    /// The default scenario with other settings.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Self {
        Self::build(settings, None).await
    }

    /// Answers of the test's own.
    pub(crate) async fn answering(answers: &serde_json::Value, settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scenario = serde_json::json!({ "answers": answers });
        std::fs::write(folder.path().join("default.json"), scenario.to_string()).unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        Self::build(&[settings, &[("GITHUB_FIXTURE_DIR", path.as_str())]].concat(), Some(folder)).await
    }

    async fn build(settings: &[(&str, &str)], folder: Option<TempDir>) -> Self {
        let db = TestDb::without_queue().await;
        let fixture =
            [("DATABASE_URL", db.url()), ("GITHUB_MODE", "fixture"), ("SOURCE_LOCK_WAIT_SECONDS", "0")];
        let all = fixture.iter().chain(settings);
        let environment: BTreeMap<_, _> = all.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let app = App::new(Config::read(|name| environment.get(name).cloned()).unwrap()).unwrap();
        setup::ensure(&app).await.unwrap();
        Self { db, app, environment, _folder: folder }
    }

    pub(crate) async fn poll(&self) -> Polled {
        poll(&mut self.app.worker().await.unwrap(), false, Duration::ZERO).await.unwrap()
    }

    /// A poll that ran, and what it brought.
    pub(crate) async fn polled(&self) -> Counts {
        ran(self.poll().await)
    }

    pub(crate) async fn force(&self) -> Polled {
        poll(&mut self.app.worker().await.unwrap(), true, Duration::ZERO).await.unwrap()
    }

    pub(crate) async fn enrich(&self) -> Cycle {
        enrich(&mut self.app.worker().await.unwrap(), None).await.unwrap()
    }

    /// Time passes: whatever the tables remember is as much longer ago.
    pub(crate) async fn later(&self, interval: &str) {
        let columns = "SELECT format('UPDATE %I.%I SET %s', table_schema, table_name,
                              string_agg(format('%1$I = %1$I - interval ''{}''', column_name), ', '))
                         FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
                        WHERE data_type = 'timestamp with time zone' AND t.table_type = 'BASE TABLE' AND column_name <> 'latest_event_at'
                          AND (table_schema = 'pushfeed' AND table_name IN ('source', 'run', 'entity') OR table_name = 'budget')
                        GROUP BY table_schema, table_name";
        for statement in self.column(&columns.replace("{}", interval)).await {
            self.execute(&statement).await;
        }
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(self.db.pool()).await;
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// One column as text.
    pub(crate) async fn column(&self, sql: &str) -> Vec<String> {
        let all = format!("SELECT coalesce(x::text, 'null') FROM ({sql}) AS q (x)");
        sqlx::query_scalar(AssertSqlSafe(all))
            .fetch_all(self.db.pool())
            .await
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// One value as text.
    pub(crate) async fn value(&self, sql: &str) -> String {
        self.column(sql).await.pop().unwrap_or_else(|| panic!("{sql}: no row"))
    }

    /// All of the state, for "nothing changed".
    pub(crate) async fn everything(&self) -> Vec<String> {
        let tables = [
            "pushfeed.source",
            "pushfeed.run",
            "pushfeed.push_event",
            "pushfeed.quarantined_event",
            "pushfeed.entity",
            "fairgate.budget",
            "fairgate.budget_use",
        ];
        let mut all = Vec::new();
        for table in tables {
            all.extend(
                self.column(&format!("SELECT t::text || ' v' || t.xmin FROM {table} t ORDER BY 1")).await,
            );
        }
        all
    }

    /// Runs the binary.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    /// Runs the binary with other settings.
    pub(crate) fn run_with(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Ran {
        Ran::new(self.command(arguments, settings).output().unwrap())
    }

    pub(crate) fn command(&self, arguments: &[&str], settings: &[(&str, &str)]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pushfeed"));
        for (name, _, _) in pushfeed::config::NAMES {
            command.env_remove(name);
        }
        command.args(arguments).envs(&self.environment).envs(settings.iter().copied());
        command
    }
}

pub(crate) fn ran(polled: Polled) -> Counts {
    match polled {
        Polled::Ran { counts, .. } => counts,
        other => panic!("it did not run: {other:?}"),
    }
}

/// How a run of the binary ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The value of a label.
    #[track_caller]
    pub(crate) fn label(&self, label: &str) -> &str {
        let value = self.stdout.lines().find_map(|line| line.strip_prefix(label)?.strip_prefix(": "));
        value.unwrap_or_else(|| panic!("no {label:?} in:\n{}\n{}", self.stdout, self.stderr))
    }
}

/// Waits until a query says true.
pub(crate) async fn until(feed: &Feed, sql: &str) {
    let waiting = async {
        while feed.value(sql).await != "true" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let came = tokio::time::timeout(Duration::from_secs(60), waiting).await;
    assert!(came.is_ok(), "not within a minute: {sql}");
}

/// A process of the binary, killed when it is dropped.
pub(crate) struct Running(std::process::Child);

impl Running {
    pub(crate) fn start(feed: &Feed, arguments: &[&str]) -> Self {
        let mut command = feed.command(arguments, &[]);
        let quiet = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        Self(quiet.spawn().unwrap())
    }

    /// As `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// As Ctrl-C does; its exit code.
    pub(crate) fn interrupt(&mut self) -> Option<i32> {
        let done =
            std::process::Command::new("kill").args(["-INT", &self.0.id().to_string()]).status().unwrap();
        assert!(done.success());
        self.0.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
