//! What the tenants do at this moment: counts of this process, and of the database where only it knows.

use std::sync::Arc;

use sqlx::PgConnection;

use super::endpoint::Endpoint;
use super::record::{self, Final};
use super::table::Line;
use super::tenants::Tenants;
use crate::error::CliError;

/// The newest numbers.
pub(super) struct Board {
    tenants: Arc<Tenants>,
    now: Vec<Now>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Now {
    waiting: u64,
    in_flight: u64,
    /// The longest wait that was ever seen.
    longest_wait_ms: u64,
}

impl Board {
    pub(super) fn new(tenants: Arc<Tenants>) -> Self {
        let now = vec![Now::default(); tenants.iter().len()];
        Self { tenants, now }
    }

    /// Writes down what the endpoint has received meanwhile, and reads what the tenants do.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(super) async fn refresh(
        &mut self,
        conn: &mut PgConnection,
        endpoint: &Endpoint,
    ) -> Result<(), CliError> {
        record::received(conn, &endpoint.take()).await?;
        let number = |count: i64| u64::try_from(count).unwrap_or(0);
        for live in record::live(conn).await? {
            if let Some(now) = self.now.get_mut(live.place()) {
                now.waiting = number(live.waiting);
                now.in_flight = number(live.in_flight);
                now.longest_wait_ms = now.longest_wait_ms.max(number(live.longest_wait_ms));
            }
        }
        Ok(())
    }

    /// Whether every delivery was received and every slot has come back.
    pub(super) fn is_done(&self) -> bool {
        self.tenants.received() == self.tenants.staged()
            && self.now.iter().all(|now| now.waiting == 0 && now.in_flight == 0)
    }

    /// A line for each tenant.
    pub(super) fn lines(&self) -> Vec<Line> {
        let line = |(tenant, now): (&super::tenants::Tenant, &Now)| Line {
            policy: tenant.route.policy(),
            tenant: tenant.owner.clone(),
            limit: tenant.limit().words(),
            staged: tenant.staged(),
            admitted: tenant.staged().saturating_sub(now.waiting),
            in_flight: now.in_flight,
            done: tenant.received(),
            longest_wait_ms: now.longest_wait_ms,
        };
        self.tenants.iter().zip(&self.now).map(line).collect()
    }
}

/// The lines of the end.
pub(super) fn final_lines(tenants: &Tenants, finals: &[Final]) -> Vec<Line> {
    let number = |count: i64| u64::try_from(count).unwrap_or(0);
    let line = |row: &Final| {
        let tenant = tenants.get(row.place())?;
        Some(Line {
            policy: tenant.route.policy(),
            tenant: tenant.owner.clone(),
            limit: tenant.limit().words(),
            staged: number(row.staged),
            admitted: number(row.admitted),
            in_flight: number(row.in_flight),
            done: number(row.done),
            longest_wait_ms: number(row.longest_wait_ms),
        })
    };
    finals.iter().filter_map(line).collect()
}
