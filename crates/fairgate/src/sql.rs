//! How the engine's statements reach the server.
//!
//! Behind a pooler in transaction mode ([`Settings::pooled`](crate::Settings)) a connection may be another server's session after each transaction:
//! then no statement is kept prepared by name, and every one runs inside an explicit transaction.

use std::future::Future;
use std::ops::{Deref, DerefMut};

use sqlx::postgres::PgArguments;
use sqlx::query::{Query, QueryAs, QueryScalar};
use sqlx::{Connection, FromRow, PgConnection, Postgres, SqlSafeStr, Transaction};

use crate::error::{DatabaseError, Doing};

tokio::task_local! {
    static POOLED: bool;
}

/// Runs `work` with statements as a pooler needs them, or as usual.
pub(crate) async fn scope<T>(pooled: bool, work: impl Future<Output = T>) -> T {
    POOLED.scope(pooled, work).await
}

pub(crate) fn pooled() -> bool {
    POOLED.try_with(|pooled| *pooled).unwrap_or(false)
}

pub(crate) fn query<'q>(sql: impl SqlSafeStr) -> Query<'q, Postgres, PgArguments> {
    sqlx::query(sql).persistent(!pooled())
}

pub(crate) fn query_as<'q, O>(sql: impl SqlSafeStr) -> QueryAs<'q, Postgres, O, PgArguments>
where
    O: for<'r> FromRow<'r, sqlx::postgres::PgRow>,
{
    sqlx::query_as(sql).persistent(!pooled())
}

pub(crate) fn query_scalar<'q, O>(sql: impl SqlSafeStr) -> QueryScalar<'q, Postgres, O, PgArguments>
where
    (O,): for<'r> FromRow<'r, sqlx::postgres::PgRow>,
{
    sqlx::query_scalar(sql).persistent(!pooled())
}

/// Work that is one statement, or short: in a transaction of its own behind a pooler, as it is elsewhere.
/// The transaction has the time-outs of a tick, so that a program that freezes in it holds nothing for long.
#[derive(Debug)]
pub(crate) enum Unit<'c> {
    Direct(&'c mut PgConnection),
    Own(Transaction<'c, Postgres>),
}

impl<'c> Unit<'c> {
    pub(crate) async fn begin(conn: &'c mut PgConnection) -> Result<Self, DatabaseError> {
        if !pooled() {
            return Ok(Self::Direct(conn));
        }
        let begin = include_str!("../queries/claim/begin_pooled.sql");
        Ok(Self::Own(conn.begin_with(begin).await.doing("beginning")?))
    }

    pub(crate) async fn end(self) -> Result<(), DatabaseError> {
        match self {
            Self::Direct(_) => Ok(()),
            Self::Own(tx) => tx.commit().await.doing("committing"),
        }
    }
}

impl Deref for Unit<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Self::Direct(conn) => conn,
            Self::Own(tx) => tx,
        }
    }
}

impl DerefMut for Unit<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Self::Direct(conn) => conn,
            Self::Own(tx) => tx,
        }
    }
}
