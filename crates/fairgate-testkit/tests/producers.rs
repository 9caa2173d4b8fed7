//! The examples of producers in other languages do what they say. They need their packages: `make test-queues`.

use std::path::{Path, PathBuf};
use std::process::Command;

use fairgate::queue::GraphileWorker;
use fairgate::{Policy, Ticker};
use fairgate_testkit::TestDb;

async fn stages(program: &Path, folder: &str, file: &str) {
    let db = TestDb::new().await;
    let policy =
        Policy::builder("webhooks").queue("main").partition_by("account_id").build().expect("a policy");
    let queue = GraphileWorker::new("graphile_worker").expect("a name");
    let builder = Ticker::builder(db.pool().clone()).queue("main", queue).expect("a name");
    builder.policy(policy).register().await.expect("registered");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let ran = Command::new(program).arg(file).current_dir(&folder).env("DATABASE_URL", db.url()).output();
    let ran =
        ran.unwrap_or_else(|error| panic!("{}: {error}; `make test-queues` installs it", program.display()));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let staged = "SELECT json_agg(json_build_array(partition_key, task, priority) ORDER BY staged_at, priority)::text FROM fairgate.staged_jobs";
    let staged: String = sqlx::query_scalar(staged).fetch_one(db.pool()).await.expect("rows");
    assert_eq!(
        staged,
        r#"[["7", "deliver", 0], ["1", "deliver", 1], ["2", "deliver", 2], ["3", "deliver", 3]]"#
    );
    let orders: i64 =
        sqlx::query_scalar("SELECT count(*) FROM public.orders").fetch_one(db.pool()).await.expect("a count");
    assert_eq!(orders, 1);
}

#[tokio::test]
#[ignore = "needs Node's packages: make test-queues"]
async fn the_producer_in_node_stages_in_its_own_transactions() {
    stages(Path::new("node"), "node", "stage.mjs").await;
}

#[tokio::test]
#[ignore = "needs Python's packages: make test-queues"]
async fn the_producer_in_python_stages_in_its_own_transactions() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workers/python/venv/bin/python");
    let program = std::env::var("FAIRGATE_PYTHON").map_or(own, PathBuf::from);
    stages(&program, "python", "stage.py").await;
}
