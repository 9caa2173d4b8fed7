//! The databases that tests' databases are copies of.

use graphile_worker::WorkerUtils;
use sqlx::Connection;
use sqlx::postgres::{PgConnection, PgPoolOptions};

use super::server::Server;
use super::{names, run};

/// Serialises the making of templates on one server.
const LOCK: &str = "SELECT pg_advisory_lock(hashtextextended('fairgate test templates', 0))";
const UNLOCK: &str = "SELECT pg_advisory_unlock(hashtextextended('fairgate test templates', 0))";
/// Where Graphile Worker's tables go.
const QUEUE_SCHEMA: &str = "graphile_worker";
/// The exact versions of what we build with.
const CARGO_LOCK: &str = include_str!("../../../../Cargo.lock");

/// What a database starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    Nothing,
    Fairgate,
    FairgateAndQueue,
}

/// The name of a complete template with these contents, which is made if the server has none.
pub(super) async fn ensure(server: &Server, admin: &mut PgConnection, contents: Contents) -> String {
    let kind = match contents {
        Contents::Nothing => return "template0".to_owned(),
        Contents::Fairgate => "fairgate",
        Contents::FairgateAndQueue => "queue",
    };
    let name = format!("fairgate_template_{kind}_{}", fingerprint());
    if exists(admin, &name).await {
        return name;
    }
    run(admin, LOCK.to_owned()).await;
    if !exists(admin, &name).await {
        make(server, admin, &name, contents).await;
    }
    run(admin, UNLOCK.to_owned()).await;
    name
}

async fn exists(admin: &mut PgConnection, name: &str) -> bool {
    sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
        .bind(name)
        .fetch_one(admin)
        .await
        .expect("the catalog can be read")
}

/// Makes the template under another name and renames it when it is complete, so that a killed test leaves no half of
/// one. Nobody may connect to it afterwards, because a database in use cannot be copied.
async fn make(server: &Server, admin: &mut PgConnection, name: &str, contents: Contents) {
    let unfinished = format!("{name}_new");
    run(admin, format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")).await;
    run(admin, format!("CREATE DATABASE {unfinished} TEMPLATE template0")).await;
    fill(&names::with_database(server.url(), &unfinished), contents).await;
    run(admin, format!("ALTER DATABASE {unfinished} ALLOW_CONNECTIONS false")).await;
    run(admin, format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await;
}

/// Migrates the database, and leaves no connection to it.
async fn fill(url: &str, contents: Contents) {
    let mut connection = PgConnection::connect(url).await.expect("the new template accepts connections");
    fairgate::migrate(&mut connection)
        .await
        .unwrap_or_else(|error| panic!("migrating the template: {error}"));
    connection.close().await.expect("the migrated connection closes");
    if contents == Contents::FairgateAndQueue {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .connect(url)
            .await
            .expect("the template accepts connections");
        WorkerUtils::new(&pool, QUEUE_SCHEMA)
            .migrate()
            .await
            .unwrap_or_else(|error| panic!("migrating Graphile Worker's schema: {error}"));
        pool.close().await;
    }
}

/// Changes with any migration of ours and any version of Graphile Worker's migrations.
fn fingerprint() -> String {
    let ours = fairgate::MIGRATOR.iter().flat_map(|migration| migration.checksum.iter().copied());
    let theirs = locked_version("graphile_worker_migrations");
    let hash = ours.chain(theirs.bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The version of a crate in `Cargo.lock`.
fn locked_version(name: &str) -> &'static str {
    CARGO_LOCK
        .split("[[package]]")
        .find(|package| package.contains(&format!("name = \"{name}\"")))
        .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
        .unwrap_or_else(|| panic!("Cargo.lock has no crate {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queues_migrations_have_a_version() {
        assert!(locked_version("graphile_worker_migrations").contains('.'));
    }

    #[tokio::test]
    async fn a_template_lets_nobody_in() {
        let db = super::super::TestDb::new().await;
        let open: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_database WHERE datname LIKE 'fairgate\\_template\\_%' AND datallowconn \
             AND datname NOT LIKE '%\\_new'",
        )
        .fetch_one(db.pool())
        .await
        .expect("the catalog can be read");
        assert_eq!(open, 0);
    }
}
