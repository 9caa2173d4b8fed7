//! The debit, and what the answer changes: each one short transaction under the budget's lock.

use chrono::{DateTime, Utc};
use fairgate_core::budget::{
    Answer, Ask, Borrow, Change, Debit, Denial, Ledger, Plan, Receipt, decide, reconcile_beside,
};
use sqlx::{Connection, PgConnection};

use super::ledger_row::{Lanes, Row, clamp, read_use, write};
use super::request::Spent;
use crate::error::{DatabaseError, Doing};
use crate::sql::{query, query_as, query_scalar};

/// A budget in the database.
#[derive(Debug, Clone)]
pub struct Budget {
    name: String,
    plan: Plan,
}

/// Why a budget cannot have this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a budget's name has 1 to 200 bytes; this one has {0}")]
pub struct NameError(usize);

/// The answer to a wish.
#[derive(Debug)]
pub enum Reserved {
    /// Debited and committed.
    Granted(Reservation),
    /// Nothing was changed.
    Denied(Denial),
}

/// A request that may be sent: already debited. It is for one request, and stays spent when it is dropped.
///
/// ```compile_fail
/// fn twice(reservation: fairgate::budget::Reservation) { let again = reservation.clone(); }
/// ```
#[derive(Debug)]
#[must_use = "it is debited already: send the request"]
pub struct Reservation {
    pub(super) receipt: Receipt,
    changes: Vec<Change>,
}

impl Reservation {
    /// What the debit changed, for the log.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    /// The debit could be rolled back after the request was sent.
    #[error(
        "reserving in an open transaction: the debit must be committed before the request is sent; reserve outside of it"
    )]
    InTransaction,
    /// A row of the budget was changed by somebody who does not hold its lock.
    #[error(
        "the budget {budget:?} was changed without its lock, nothing was debited; nobody but fairgate may write fairgate.budget and fairgate.budget_use"
    )]
    ChangedWithoutLock {
        /// Its name.
        budget: String,
    },
    /// The database did not answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl Budget {
    /// A budget of this name, shared by all who use the name with the same plan.
    ///
    /// # Errors
    /// When the name is empty or too long.
    pub fn new(name: &str, plan: Plan) -> Result<Self, NameError> {
        match name.len() {
            1..=200 => Ok(Self { name: name.to_owned(), plan }),
            length => Err(NameError(length)),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is divided.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Debits one request and commits, if it may go. `now`: another time than the database's, for tests.
    ///
    /// # Errors
    /// See [`ReserveError`]; then nothing was debited, unless the connection was lost while committing.
    pub async fn reserve(
        &self,
        conn: &mut PgConnection,
        ask: Ask,
        now: Option<DateTime<Utc>>,
    ) -> Result<Reserved, ReserveError> {
        const DOING: &str = "debiting a request";
        let first = transaction_start(conn).await?;
        if conn.is_in_transaction() || transaction_start(conn).await? == first {
            return Err(ReserveError::InTransaction);
        }
        let mut tx = conn.begin().await.doing(DOING)?;
        let (ledger, now) = self.lock(&mut tx, now).await?;
        let debit = match decide(&self.plan, &ledger, ask, now) {
            Ok(debit) => debit,
            Err(denial) => {
                tx.rollback().await.doing(DOING)?;
                return Ok(Reserved::Denied(denial));
            }
        };
        if debit.receipt.window != ledger.window.number {
            write(&mut tx, &self.name, &self.plan, &ledger.at(&self.plan, now)).await?;
        }
        if !self.debit(&mut tx, ask, &debit, now).await? {
            tx.rollback().await.doing(DOING)?;
            return Err(ReserveError::ChangedWithoutLock { budget: self.name.clone() });
        }
        tx.commit().await.doing(DOING)?;
        Ok(Reserved::Granted(Reservation { receipt: debit.receipt, changes: debit.changes }))
    }

    /// Folds an answer in, and says what it changed. A killed process never comes here: its debit stays.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn reconcile(
        &self,
        conn: &mut PgConnection,
        spent: Spent,
        answer: &Answer,
        now: Option<DateTime<Utc>>,
    ) -> Result<Vec<Change>, DatabaseError> {
        self.reconcile_beside(conn, spent, answer, &[], now).await
    }

    /// As [`Budget::reconcile`], where the server has other budgets for the same caller: its pauses hold for all, in one transaction. `beside` are budgets of other
    /// names; rows are locked in order of names, whoever asks.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn reconcile_beside(
        &self,
        conn: &mut PgConnection,
        spent: Spent,
        answer: &Answer,
        beside: &[&Self],
        now: Option<DateTime<Utc>>,
    ) -> Result<Vec<Change>, DatabaseError> {
        const DOING: &str = "reconciling a request";
        let mut all: Vec<&Self> = beside.iter().copied().filter(|other| other.name != self.name).collect();
        all.push(self);
        all.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let mut tx = conn.begin().await.doing(DOING)?;
        let (mut own, mut others) = (None, Vec::new());
        for budget in all {
            let (ledger, now) = budget.lock(&mut tx, now).await?;
            if budget.name == self.name { own = Some((ledger, now)) } else { others.push((budget, ledger)) }
        }
        let (ledger, now) = own.expect("it is among all");
        let (budgets, before): (Vec<&Self>, Vec<Ledger>) = others.into_iter().unzip();
        let (done, after) = reconcile_beside(&self.plan, &ledger, &before, spent.0, answer, now);
        if done.ledger != ledger {
            write(&mut tx, &self.name, &self.plan, &done.ledger).await?;
        }
        for ((budget, before), after) in budgets.iter().zip(&before).zip(&after) {
            if before != after {
                write(&mut tx, &budget.name, &budget.plan, after).await?;
            }
        }
        tx.commit().await.doing(DOING)?;
        Ok(done.changes)
    }

    /// The ledger as it is now, and what time that is. Nothing is locked or changed; a budget that nobody has used is a new one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read(
        &self,
        conn: &mut PgConnection,
        now: Option<DateTime<Utc>>,
    ) -> Result<(Ledger, DateTime<Utc>), DatabaseError> {
        let row: Option<Row> = query_as(include_str!("../../queries/budget/read_budget.sql"))
            .bind(&self.name)
            .fetch_optional(&mut *conn)
            .await
            .doing("reading a budget")?;
        let (used, now) = read_use(conn, &self.name, &self.plan, now).await?;
        let ledger = row.map_or_else(|| Ledger::new(&self.plan), |row| row.ledger(used));
        Ok((ledger.at(&self.plan, now), now))
    }

    /// Locks the row, which is made if it is not there, and reads what stands in it.
    async fn lock(
        &self,
        tx: &mut PgConnection,
        now: Option<DateTime<Utc>>,
    ) -> Result<(Ledger, DateTime<Utc>), DatabaseError> {
        let lanes = Lanes::of(&self.plan);
        query(include_str!("../../queries/budget/ensure_budget.sql"))
            .bind(&self.name)
            .bind(&lanes.classes)
            .bind(&lanes.members)
            .execute(&mut *tx)
            .await
            .doing("making a budget")?;
        let row: Row = query_as(include_str!("../../queries/budget/lock_budget.sql"))
            .bind(&self.name)
            .fetch_one(&mut *tx)
            .await
            .doing("locking a budget")?;
        let (used, now) = read_use(tx, &self.name, &self.plan, now).await?;
        Ok((row.ledger(used), now))
    }

    async fn debit(
        &self,
        tx: &mut PgConnection,
        ask: Ask,
        debit: &Debit,
        now: DateTime<Utc>,
    ) -> Result<bool, DatabaseError> {
        let lanes = Lanes::of(&self.plan);
        let (lane, window) = (ask.lane(), &debit.ledger.window);
        let limit = window.limit_or_planned(&self.plan);
        let done = query(include_str!("../../queries/budget/debit.sql"))
            .bind(&self.name)
            .bind(&lanes.classes[lane.slot()])
            .bind(&lanes.members[lane.slot()])
            .bind(now)
            .bind(i64::try_from(window.number).unwrap_or(i64::MAX))
            .bind(self.plan.may_open(lane))
            .bind(clamp(self.plan.reserve()))
            .bind(clamp(self.plan.allowance(lane, limit)))
            .bind(clamp(self.plan.guarantee(lane, limit)))
            .bind(ask.borrow() == Borrow::OthersHaveNoWork)
            .bind(window.opened_at)
            .bind(window.limit.map(clamp))
            .bind(window.remaining.map(clamp))
            .bind(window.reset_at)
            .bind(debit.ledger.block.map(|block| block.until))
            .bind(debit.ledger.block.map(|block| block.reason.code()))
            .execute(tx)
            .await
            .doing("debiting a request")?;
        Ok(done.rows_affected() == 1)
    }
}

async fn transaction_start(conn: &mut PgConnection) -> Result<DateTime<Utc>, DatabaseError> {
    let sql = include_str!("../../queries/budget/transaction_start.sql");
    query_scalar(sql).fetch_one(conn).await.doing("looking for an open transaction")
}
