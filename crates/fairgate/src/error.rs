/// A statement that the database did not carry out: what was being done, and the database's own words.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {source}")]
pub struct DatabaseError {
    /// What was being done, as in "claiming due partitions".
    pub doing: &'static str,
    /// The cause.
    #[source]
    pub source: sqlx::Error,
}

impl DatabaseError {
    /// The SQLSTATE, if the server sent one.
    #[must_use]
    pub fn sqlstate(&self) -> Option<String> {
        self.source
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::code)
            .map(std::borrow::Cow::into_owned)
    }

    /// The server's hint, if it sent one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let error = self.source.as_database_error()?;
        error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>()?.hint().map(str::to_owned)
    }

    /// The server's detail, if it sent one.
    #[must_use]
    pub fn detail(&self) -> Option<String> {
        let error = self.source.as_database_error()?;
        error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>()?.detail().map(str::to_owned)
    }

    /// The server's message alone, or the driver's words.
    #[must_use]
    pub fn message(&self) -> String {
        self.source.as_database_error().map_or_else(|| self.source.to_string(), |e| e.message().to_owned())
    }
}

/// Names the operation of a failed statement.
pub(crate) trait Doing<T> {
    fn doing(self, what: &'static str) -> Result<T, DatabaseError>;
}

impl<T> Doing<T> for Result<T, sqlx::Error> {
    fn doing(self, what: &'static str) -> Result<T, DatabaseError> {
        self.map_err(|source| DatabaseError { doing: what, source })
    }
}
