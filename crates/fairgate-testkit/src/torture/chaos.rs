//! What happens to processes and sessions while the work goes on.

use std::time::{Duration, Instant};

use sqlx::PgPool;

use super::cast::Cast;
use super::plan::Plan;
use super::random::Random;

/// What was done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Havoc {
    /// Sessions that were ended in the server.
    pub terminated: u64,
    /// Tickers that were killed.
    pub tickers_killed: u64,
    /// Workers that were killed.
    pub workers_killed: u64,
    /// Tickers that were frozen.
    pub frozen: u64,
    /// The longest of those times.
    pub longest_freeze: Duration,
}

/// From this length on, a run also holds a ticker longer than the server lets a transaction idle.
const ROOM_FOR_A_LONG_FREEZE: Duration = Duration::from_secs(40);

/// Disturbs everybody as planned.
pub(super) async fn disturb(cast: &mut Cast, admin: &PgPool, random: &mut Random, plan: &Plan) -> Havoc {
    let (began, time) = (Instant::now(), plan.chaos);
    let mut havoc = Havoc::default();
    let mut terminate = Timer::new(150, 500);
    let mut kill_ticker = Timer::new(700, 2_000);
    let mut kill_worker = Timer::new(400, 1_500);
    let mut look = Timer::new(200, 400);
    let mut freeze = Timer::new(2_000, 4_500);
    let mut long_freeze_due = plan.interruptions && time >= ROOM_FOR_A_LONG_FREEZE;
    while began.elapsed() < time {
        cast.look_after();
        if terminate.due(random) {
            havoc.terminated += terminate_one(admin, random).await;
        }
        if plan.one_find_is_enough && look.due(random) && found_something(admin).await {
            break;
        }
        if kill_ticker.due(random) {
            havoc.tickers_killed += kill_one(cast, "ticker", random);
        }
        if kill_worker.due(random) {
            havoc.workers_killed += kill_one(cast, "worker", random);
        }
        let long = long_freeze_due && began.elapsed() >= time / 3;
        if (plan.interruptions && freeze.due(random)) || long {
            let pause = if long { random.millis(11_000, 13_000) } else { random.millis(200, 3_000) };
            long_freeze_due &= !long;
            let tickers = cast.places("ticker");
            if !tickers.is_empty() {
                let actor = &mut cast.actors[random.pick(&tickers)];
                actor.spared = long;
                actor.freeze(pause);
                havoc.frozen += 1;
                havoc.longest_freeze = havoc.longest_freeze.max(pause);
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    cast.thaw_all();
    havoc
}

fn kill_one(cast: &mut Cast, role: &str, random: &mut Random) -> u64 {
    let places = cast.places(role);
    if places.is_empty() {
        return 0;
    }
    cast.kill(random.pick(&places));
    1
}

async fn terminate_one(admin: &PgPool, random: &mut Random) -> u64 {
    let sql = include_str!("../../queries/torture/terminate_a_backend.sql");
    let ended: Result<i64, _> = sqlx::query_scalar(sql).bind(random.unit()).fetch_one(admin).await;
    ended.map_or(0, i64::unsigned_abs)
}

async fn found_something(admin: &PgPool) -> bool {
    let sql = "SELECT EXISTS (SELECT FROM torture.violation)";
    sqlx::query_scalar(sql).fetch_one(admin).await.unwrap_or(false)
}

/// Something that happens again and again, never quite regularly.
#[derive(Debug)]
struct Timer {
    least: u64,
    most: u64,
    next: Option<Instant>,
}

impl Timer {
    const fn new(least: u64, most: u64) -> Self {
        Self { least, most, next: None }
    }

    fn due(&mut self, random: &mut Random) -> bool {
        let now = Instant::now();
        let due = self.next.is_some_and(|next| now >= next);
        if due || self.next.is_none() {
            self.next = Some(now + random.millis(self.least, self.most));
        }
        due
    }
}
