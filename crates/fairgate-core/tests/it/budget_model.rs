//! Every interleaving of a few processes and a server, on small numbers.
//!
//! Processes reserve, their requests arrive or are lost, answers come late or never, time passes. The server counts what arrives in windows of its
//! own. In every state that can be reached: no limit, class or share is overspent, and no block moves to an earlier time.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use fairgate_core::budget::{
    Answer, Ask, Borrow, Ledger, LimitHeaders, Plan, Receipt, Verdict, Windows, decide, reconcile,
};

use crate::budget_support::{at, plan_with};

/// Seconds; a window of the server, and the instants that there are: the server's resets, and a second later, when ours believe in them.
const WINDOW: i64 = 20;
const INSTANTS: [i64; 5] = [0, 20, 21, 41, 42];

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    now: i64,
    ledger: Ledger,
    processes: Vec<Process>,
    server: Server,
    secondaries: u8,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Process {
    Idle,
    Holds(Receipt),
    Answered(Receipt, Answer),
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Server {
    reset: i64,
    counted: u32,
}

impl Server {
    /// Counts a request, in a window that begins with it when the one before is over.
    fn receive(&mut self, plan: &Plan, now: i64) -> LimitHeaders {
        if now >= self.reset {
            *self = Self { reset: now + WINDOW, counted: 0 };
        }
        self.counted += 1;
        let remaining = plan.limit().saturating_sub(self.counted);
        LimitHeaders { resource: None, limit: plan.limit(), remaining, reset_at: at(self.reset) }
    }
}

fn asks(plan: &Plan) -> Vec<Ask> {
    let lane = |class: &str, member| plan.lane(class, member).unwrap();
    let (actor, repository) = (lane("lookup", Some("actor")), lane("lookup", Some("repository")));
    vec![
        Ask::new(plan, lane("poll", None), Borrow::No).unwrap(),
        Ask::new(plan, actor, Borrow::No).unwrap(),
        Ask::new(plan, actor, Borrow::OthersHaveNoWork).unwrap(),
        Ask::new(plan, repository, Borrow::No).unwrap(),
    ]
}

fn next(plan: &Plan, asks: &[Ask], at_once: At, world: &World, found: &mut Vec<World>) {
    let taken = at_once == At::OneByOne && world.processes.iter().any(|p| !matches!(p, Process::Idle));
    if let Some(now) = INSTANTS.into_iter().find(|instant| *instant > world.now) {
        found.push(World { now, ..world.clone() });
    }
    for (n, process) in world.processes.iter().enumerate() {
        let mut become_ = |process, change: &dyn Fn(&mut World)| {
            let mut after = world.clone();
            after.processes[n] = process;
            change(&mut after);
            assert!(
                after.ledger.block.map(|b| b.until)
                    >= world.ledger.blocked_at(at(world.now)).map(|b| b.until)
            );
            found.push(after);
        };
        match process {
            Process::Idle => {
                for ask in asks.iter().filter(|_| !taken) {
                    let Ok(debit) = decide(plan, &world.ledger, *ask, at(world.now)) else { continue };
                    judge_debit(plan, *ask, &debit.ledger);
                    become_(Process::Holds(debit.receipt), &|w| w.ledger = debit.ledger.clone());
                }
            }
            Process::Holds(receipt) => {
                // It dies before it sends, or after.
                become_(Process::Idle, &|_| {});
                become_(Process::Idle, &|w| _ = w.server.receive(plan, w.now));
                let mut server = world.server.clone();
                let headers = Some(server.receive(plan, world.now));
                let answers = [Verdict::Clean, Verdict::SecondaryLimit(None)];
                for verdict in answers.into_iter().take(if world.secondaries == 0 { 2 } else { 1 }) {
                    let answer = Answer { headers: headers.clone(), verdict };
                    become_(Process::Answered(*receipt, answer), &|w| {
                        w.server = server.clone();
                        w.secondaries += u8::from(verdict != Verdict::Clean);
                    });
                }
            }
            Process::Answered(receipt, answer) => {
                let done = reconcile(plan, &world.ledger, *receipt, answer, at(world.now));
                become_(Process::Idle, &|w| w.ledger = done.ledger.clone());
            }
        }
    }
}

/// Nothing is debited beyond limit, class or share.
fn judge_debit(plan: &Plan, ask: Ask, after: &Ledger) {
    let window = &after.window;
    let limit = window.limit_or_planned(plan);
    assert!(window.class_used(plan, ask.lane()) <= plan.allowance(ask.lane(), limit), "class: {after:?}");
    let own = window.used[ask.lane().slot()];
    assert!(ask.borrow() != Borrow::No || own <= plan.guarantee(ask.lane(), limit), "share: {after:?}");
    assert!(window.remaining.is_none_or(|remaining| remaining >= plan.reserve()), "reserve: {after:?}");
}

/// Whether a gate lets one attempt at a time pass, answer included.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    OneByOne,
    All,
}

/// Explores everything; how many states there are. Behind a gate one request at most is on its way at a reset, which the server may count in the
/// window after that of its debit; the reserve of one request is for that.
fn explore(processes: usize, at_once: At, spendable: u32) -> usize {
    let windows = Windows::FromHeaders(Duration::from_secs(WINDOW.unsigned_abs()));
    let plan = plan_with(spendable + 1, 1, 1, "0.5", windows).unwrap();
    let asks = asks(&plan);
    let start = World {
        now: 0,
        ledger: Ledger::new(&plan),
        processes: vec![Process::Idle; processes],
        server: Server { reset: 0, counted: 0 },
        secondaries: 0,
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut queue = VecDeque::from([start]);
    let mut found = Vec::new();
    while let Some(world) = queue.pop_front() {
        next(&plan, &asks, at_once, &world, &mut found);
        for after in found.drain(..) {
            let (counted, limit) = (after.server.counted, plan.limit());
            assert!(at_once == At::All || counted <= limit, "the server counts {counted} of {limit}");
            if seen.insert(after.clone()) {
                queue.push_back(after);
            }
        }
    }
    seen.len()
}

#[test]
fn behind_a_gate_no_interleaving_of_processes_that_die_overspends_at_the_server() {
    assert!(explore(2, At::OneByOne, 4) > 1_000);
}

#[test]
fn no_interleaving_of_processes_at_once_debits_beyond_limit_class_or_share() {
    assert!(explore(2, At::All, 3) > 1_000);
}
