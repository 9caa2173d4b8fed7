//! A database for each test.

mod names;
mod server;
mod template;

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection};

use server::Server;
use template::Contents;

/// Connections of a test's pool.
const POOL_SIZE: u32 = 10;
/// How long a test waits for one of them.
const POOL_PATIENCE: Duration = Duration::from_secs(30);

/// A database that belongs to one test.
///
/// It is a copy of a template that is migrated once for each server and set of migrations. The server is the one that
/// `FAIRGATE_TEST_DATABASE_URL` names (a superuser's URL; `xtask with-postgres` sets it), else a private one of this
/// process. On a named server the database is dropped with this value, unless the test failed and
/// `FAIRGATE_TEST_KEEP` is set.
#[derive(Debug)]
pub struct TestDb {
    name: String,
    url: String,
    pool: PgPool,
    server: &'static Server,
}

impl TestDb {
    /// A database with schema `fairgate` and Graphile Worker's schema `graphile_worker`.
    ///
    /// # Panics
    /// When there is no server or it refuses, with its words. The same goes for the other constructors.
    pub async fn new() -> TestDb {
        TestDb::with(Contents::FairgateAndQueue).await
    }

    /// A database with schema `fairgate` and no queue.
    pub async fn without_queue() -> TestDb {
        TestDb::with(Contents::Fairgate).await
    }

    /// A database without any schema of ours.
    pub async fn bare() -> TestDb {
        TestDb::with(Contents::Nothing).await
    }

    async fn with(contents: Contents) -> TestDb {
        let server = server::get().await;
        let name = names::test_database();
        let mut admin = server.connect().await;
        let template = template::ensure(server, &mut admin, contents).await;
        run(&mut admin, format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        // A failed good-bye costs the server nothing that it would not notice itself.
        let _ = admin.close().await;
        let url = names::with_database(server.url(), &name);
        let options: PgConnectOptions = url.parse().expect("the server's own URL was parsed before");
        let pool = PgPoolOptions::new()
            .max_connections(POOL_SIZE)
            .acquire_timeout(POOL_PATIENCE)
            .connect_lazy_with(options);
        TestDb { name, url, pool, server }
    }

    /// A pool of up to 10 connections.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// One more connection, outside the pool.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url)
            .await
            .unwrap_or_else(|error| panic!("connecting to {}: {error}", self.url))
    }

    /// The database's URL, for other processes.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The database's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        if std::thread::panicking() && std::env::var_os("FAIRGATE_TEST_KEEP").is_some() {
            eprintln!("kept for inspection: {}", self.url);
            return;
        }
        self.server.drop_database(&self.name);
    }
}

/// Runs a statement that takes no parameters; names in it are ours.
async fn run(connection: &mut PgConnection, statement: String) {
    if let Err(error) = sqlx::raw_sql(AssertSqlSafe(statement.clone())).execute(connection).await {
        panic!("{statement}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn schemas(db: &TestDb) -> Vec<String> {
        sqlx::query_scalar(
            "SELECT nspname::text FROM pg_namespace WHERE nspname IN ('fairgate', 'graphile_worker') ORDER BY 1",
        )
        .fetch_all(db.pool())
        .await
        .expect("the pool connects")
    }

    #[tokio::test]
    async fn each_kind_of_database_holds_its_schemas() {
        assert_eq!(schemas(&TestDb::new().await).await, ["fairgate", "graphile_worker"]);
        assert_eq!(schemas(&TestDb::without_queue().await).await, ["fairgate"]);
        assert_eq!(schemas(&TestDb::bare().await).await, [""; 0]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn many_at_once_are_all_their_own() {
        let tasks: Vec<_> = (0..8).map(|_| tokio::spawn(TestDb::new())).collect();
        let mut names = std::collections::BTreeSet::new();
        let mut dbs = Vec::new();
        for task in tasks {
            let db = task.await.expect("created");
            sqlx::raw_sql("CREATE TABLE mine ()")
                .execute(db.pool())
                .await
                .expect("nobody else's table is here");
            names.insert(db.name().to_owned());
            dbs.push(db);
        }
        assert_eq!(names.len(), 8);
    }

    #[tokio::test]
    async fn a_dropped_database_is_gone_although_somebody_is_connected() {
        let kept = TestDb::bare().await;
        if !kept.server.is_shared() {
            return;
        }
        let db = TestDb::bare().await;
        let name = db.name().to_owned();
        let _connection = db.connect().await;
        drop(db);
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_database WHERE datname = $1")
            .bind(name)
            .fetch_one(kept.pool())
            .await
            .expect("the other database is still there");
        assert_eq!(left, 0);
    }
}
