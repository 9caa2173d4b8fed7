//! A run from beginning to end.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::cast::Cast;
use super::chaos::{Havoc, disturb};
use super::complaints::{Complaints, Fault, Problem};
use super::plan::Plan;
use super::policies::Rules;
use super::random::Random;
use super::role::Stop;
use super::stager::{Backlog, stage};
use super::verdict::{Tally, judge, summary};
use super::{companions, drain};
use crate::TestDb;

const TICKERS: usize = 4;
const WORKERS: usize = 8;
const STAGERS: usize = 8;
/// Sessions that hold a slot's row while they beat.
const HOLDERS: usize = 2;
/// How long helper processes may take to end when they are told to.
const GOODBYE: Duration = Duration::from_secs(15);

/// What a run found.
#[derive(Debug)]
pub struct Outcome {
    /// The plan.
    pub plan: Plan,
    /// Promises that were not kept. Empty: all were.
    pub problems: Vec<Problem>,
    /// What the work came to.
    pub tally: Tally,
    /// How it was disturbed.
    pub havoc: Havoc,
    /// Changes of limits, pauses, and the longest that one of these waited.
    pub operations: (u64, u64, Duration),
    /// Audits while the work went on.
    pub audits: u64,
    /// How long the rest took at the end.
    pub drained_in: Duration,
}

impl Outcome {
    /// Whether it found this fault.
    #[must_use]
    pub fn has(&self, fault: Fault) -> bool {
        self.problems.iter().any(|problem| problem.fault == fault)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "torture of {:?} from seed {}: {} problems",
            self.plan.chaos,
            self.plan.seed,
            self.problems.len()
        )?;
        writeln!(f, "  {:?}\n  {:?}", self.tally, self.havoc)?;
        let (changes, pauses, longest) = self.operations;
        writeln!(
            f,
            "  {changes} changes of limits and {pauses} pauses, the longest waited {longest:?}; {} audits; drained in {:?}",
            self.audits, self.drained_in
        )?;
        f.write_str(&summary(&self.problems))
    }
}

/// Tortures the engine in a database of its own, with the program `torture-actor` for its helper processes.
///
/// # Panics
/// When the database or the helper processes cannot be set up.
pub async fn torture(db: &TestDb, program: &Path, plan: Plan) -> Outcome {
    let mut random = Random::new(plan.seed);
    let complaints = Arc::new(Complaints::default());
    set_up(db, &plan, &mut random).await;
    let logs = std::env::temp_dir().join(format!("torture-{}", db.name()));
    std::fs::create_dir_all(&logs).unwrap_or_else(|error| panic!("creating {}: {error}", logs.display()));

    let roles = [("ticker", TICKERS), ("worker", WORKERS)];
    let mut cast = Cast::start(program, db.url(), &logs, &roles);
    let participants = pool(db, 24);
    let (producing, stop_producing) = watch::channel(false);
    let (tidying, stop_tidying) = watch::channel(false);
    let backlog = Arc::new(Backlog::default());
    let mut stagers = start_stagers(&participants, &mut random, &stop_producing, &backlog, &complaints);
    let auditor = {
        let (pool, complaints) = (participants.clone(), complaints.clone());
        let stop = stop_tidying.clone();
        tokio::spawn(async move { companions::audit(pool, stop, &complaints).await })
    };
    let tidy = {
        let (pool, living, complaints) = (participants.clone(), cast.living.clone(), complaints.clone());
        tokio::spawn(async move { companions::tidy(pool, living, stop_tidying, &backlog, &complaints).await })
    };
    let operator = {
        let (pool, random, stop, complaints) =
            (participants.clone(), random.fork(), stop_producing, complaints.clone());
        let interrupts = plan.interruptions;
        tokio::spawn(async move {
            if interrupts {
                companions::operate(pool, random, stop, &complaints).await
            } else {
                Default::default()
            }
        })
    };

    let havoc = disturb(&mut cast, &pool(db, 1), &mut random, &plan).await;
    producing.send_replace(true);
    while let Some(stager) = stagers.join_next().await {
        stager.expect("a stager does not panic");
    }
    let operations = operator.await.expect("the operator does not panic");
    // A live worker whose session was ended keeps jobs locked that it knows nothing of any more.
    for place in cast.places("worker") {
        cast.kill(place);
    }
    let last = pool(db, 1);
    let opened = drain::open(&last).await;
    opened.unwrap_or_else(|error| panic!("letting everything go on: {error}"));
    let drained_in = drain::wait(&mut cast, &last, plan.patience, &complaints).await;
    tidying.send_replace(true);
    tidy.await.expect("the janitor does not panic");
    let audits = auditor.await.expect("the auditor does not panic");
    hear_of_ends(cast, &complaints);
    participants.close().await;
    let tally = judge(&last, &complaints).await;

    let outcome = Outcome { plan, problems: complaints.take(), tally, havoc, operations, audits, drained_in };
    if outcome.problems.is_empty() || plan.sabotage.is_some() {
        let _ = std::fs::remove_dir_all(&logs);
    } else {
        eprintln!("what the helper processes said is in {}", logs.display());
    }
    outcome
}

async fn set_up(db: &TestDb, plan: &Plan, random: &mut Random) {
    let rules = if plan.interruptions { Rules::drawn(random) } else { Rules::plain() };
    let done = companions::register(db.pool(), &rules, 1).await;
    done.unwrap_or_else(|error| panic!("registering the policies: {error}"));
    watch_database(db.pool()).await;
    run_script(db.pool(), include_str!("../../queries/torture/claims_hesitate.sql")).await;
    if let Some(sabotage) = plan.sabotage {
        run_script(db.pool(), sabotage.sql()).await;
        if plan.one_find_is_enough {
            // The fault shows only when much happens between a snapshot and its locks.
            run_script(db.pool(), include_str!("../../queries/torture/hesitate_for_long.sql")).await;
        }
    }
}

/// Installs the triggers that watch every admission and every look.
pub(super) async fn watch_database(pool: &PgPool) {
    for script in [
        include_str!("../../queries/torture/schema.sql"),
        include_str!("../../queries/torture/gates_in_force.sql"),
        include_str!("../../queries/torture/watch_admissions.sql"),
        include_str!("../../queries/torture/watch_looks.sql"),
    ] {
        run_script(pool, script).await;
    }
}

pub(super) async fn run_script(pool: &PgPool, script: &'static str) {
    sqlx::raw_sql(script).execute(pool).await.unwrap_or_else(|error| panic!("{script}: {error}"));
}

fn pool(db: &TestDb, size: u32) -> PgPool {
    let options = PgPoolOptions::new().max_connections(size).acquire_timeout(Duration::from_secs(10));
    options.connect_lazy(db.url()).expect("the database's own URL")
}

fn start_stagers(
    pool: &PgPool,
    random: &mut Random,
    stop: &Stop,
    backlog: &Arc<Backlog>,
    complaints: &Arc<Complaints>,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for number in 0..STAGERS + HOLDERS {
        let (pool, random, stop) = (pool.clone(), random.fork(), stop.clone());
        let (backlog, complaints) = (backlog.clone(), complaints.clone());
        tasks.spawn(async move {
            if number < STAGERS {
                stage(pool, random, stop, &backlog, &complaints).await;
            } else {
                companions::hold_slots(pool, random, stop, &complaints).await;
            }
        });
    }
    tasks
}

/// A worker may give up when it loses a connection; a ticker may not, and nobody may panic.
fn hear_of_ends(cast: Cast, complaints: &Complaints) {
    const PANICKED: i32 = 101;
    for (role, status) in &cast.ended {
        if *role == "ticker" || status.code() == Some(PANICKED) {
            complaints.add(Fault::BadEnd, format!("a {role} ended by itself with {status}"));
        }
    }
    for bad in cast.dismiss(GOODBYE) {
        complaints.add(Fault::BadEnd, bad);
    }
}
