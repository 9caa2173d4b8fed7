use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use fairgate::queue::Queue;
use fairgate::{NewJob, Policy, Settings, Ticker};
use fairgate_testkit::TestDb;
use serde_json::json;
use sqlx::AssertSqlSafe;
use tokio::process::{Child, Command};

/// How long 1,000 jobs may take; ends only a test that has failed.
const PATIENCE: Duration = Duration::from_secs(240);

/// A database with a queue, a ticker, and a worker process that is started again whenever it dies.
pub(crate) struct Crew<Q> {
    db: TestDb,
    queue: Q,
    command: (PathBuf, PathBuf, Vec<&'static str>),
    killed: u32,
}

impl<Q: Queue + Clone + 'static> Crew<Q> {
    /// `language`: a folder of `workers/`, whose program runs the file that `arguments` begin with.
    pub(crate) async fn of(
        queue: Q,
        language: &str,
        arguments: &[&'static str],
        install: &'static str,
    ) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../workers").join(language);
        let program = match language {
            "python" => std::env::var("FAIRGATE_PYTHON")
                .map_or_else(|_| folder.join("venv/bin/python"), PathBuf::from),
            "rust" => std::env::var("FAIRGATE_RUST_WORKERS")
                .map_or_else(|_| folder.join("target/release/fairgate-test-workers"), PathBuf::from),
            _ => PathBuf::from("node"),
        };
        let db = TestDb::new().await;
        let crew = Self { db, queue, command: (program, folder, arguments.to_vec()), killed: 0 };
        crew.execute(&format!("ALTER DATABASE {} SET search_path = public", crew.db.name())).await;
        crew.execute(&format!("SET search_path = public; {install}")).await;
        crew.execute(
            "CREATE TABLE public.ran (id bigserial PRIMARY KEY, n int NOT NULL, tenant text NOT NULL, began timestamptz NOT NULL DEFAULT clock_timestamp(),
                 ended timestamptz, fails boolean NOT NULL GENERATED ALWAYS AS (n % 5 = 0) STORED);
             CREATE INDEX ON public.ran (n); CREATE INDEX ON public.ran (tenant, began)",
        )
        .await;
        crew
    }

    /// Four tenants; every fifth job fails once, two kill their worker.
    pub(crate) async fn stage(&self, count: i64) {
        let policy = Policy::builder("p").queue("main").partition_by("tenant").concurrency(|c| c.max(5.0));
        let builder =
            Ticker::builder(self.db.pool().clone()).queue("main", self.queue.clone()).expect("a name");
        builder.policy(policy.build().expect("a policy")).register().await.expect("registered");
        let jobs: Vec<NewJob> = (1..=count)
            .map(|n| {
                let fail = if n == 13 || n == count / 2 + 1 { -1 } else { i64::from(n % 5 == 0) };
                let tenant = format!("t{}", n % 4);
                let job = NewJob::new("work").payload(&json!({ "n": n, "tenant": tenant, "fail": fail }));
                let job =
                    job.and_then(|job| job.context(&json!({ "tenant": tenant }))).expect("plain values");
                job.max_attempts(5)
            })
            .collect();
        let mut conn = self.db.connect().await;
        fairgate::stage_many(&mut conn, "p", &jobs).await.expect("staged");
    }

    /// Runs a ticker and the worker until nothing is left.
    pub(crate) async fn work_until_done(&mut self) {
        let settings = Settings { sweep_every: Duration::from_secs(1), ..Settings::default() };
        let builder =
            Ticker::builder(self.db.pool().clone()).queue("main", self.queue.clone()).expect("a name");
        let ticker = builder.settings(settings).register().await.expect("a ticker");
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let ticking = tokio::spawn(async move {
            ticker
                .run(async {
                    stopped.await.ok();
                })
                .await
        });
        let mut worker = self.start();
        let began = Instant::now();
        let left =
            "SELECT (SELECT count(*) FROM fairgate.staged) + (SELECT count(*) FROM fairgate.in_flight)";
        while self.number(left).await > 0 {
            assert!(
                began.elapsed() < PATIENCE,
                "{} jobs are left after {PATIENCE:?}",
                self.number(left).await
            );
            if let Some(status) = worker.try_wait().expect("its status") {
                assert!(!status.success() && status.code().is_none(), "the worker ended by itself: {status}");
                self.killed += 1;
                worker = self.start();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        worker.kill().await.expect("killed");
        stop.send(()).expect("it runs");
        ticking.await.expect("no panic").expect("a sound ticker");
    }

    fn start(&self) -> Child {
        let (program, folder, arguments) = &self.command;
        Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .env("DATABASE_URL", self.db.url())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "{} in {}: {error}; `make test-queues` installs it",
                    program.display(),
                    folder.display()
                )
            })
    }

    pub(crate) fn killed(&self) -> u32 {
        self.killed
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let number = sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(self.db.pool()).await;
        number.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    async fn execute(&self, sql: &str) {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut self.db.connect().await).await;
        done.unwrap_or_else(|e| panic!("{sql}: {e}"));
    }

    /// Every counter agrees with its rows.
    pub(crate) async fn audit(&self) {
        let wrong = fairgate::doctor::audit(&mut self.db.connect().await).await.expect("an audit");
        assert_eq!(wrong, [], "counters disagree with their rows");
    }
}
