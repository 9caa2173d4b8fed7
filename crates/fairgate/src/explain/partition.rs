use chrono::{DateTime, Utc};
use fairgate_core::definition::Definition;
use fairgate_core::forecast::forecast_under;
use fairgate_core::gate::{Assessment, Observation};
use fairgate_core::overrides::{self, Overrides};
use fairgate_core::pipeline::{GateStates, observe};
use fairgate_core::policy::{Fairness, Policy};
use fairgate_core::verdict::{Denial, Verdict, WakeEvent};
use fairgate_core::{gate, reason::DenyReason};
use serde::Serialize;

use super::read::Facts;
use super::scopes::{ScopeFacts, ScopeStanding};
use super::{Slot, turn};
use crate::overrides::Override;

/// What ends a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Its time comes.
    RunAt,
    /// A ticker runs. The instant that is given stands all the same.
    Ticker,
    /// A job of the partition finishes.
    Finish,
    /// The partition gets a newer context, or the policy another definition.
    ContextChange,
    /// `resume`.
    Resume,
    /// `enable`.
    Enable,
    /// `apply`.
    Apply,
    /// The queue is ready.
    QueueReady,
    /// Workers begin some of what the queue holds.
    Workers,
    /// Its turn: a budget, a queue's room or its share went to others.
    Turn,
    /// A program that can judge this policy looks at it: one with its closures, or of a newer version.
    Program,
}

/// What holds a job besides time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hold {
    /// What ends it.
    pub event: Event,
    /// Why, for people.
    pub why: String,
}

/// A gate's answer at this moment.
#[derive(Debug, Clone, Serialize)]
pub struct GateStanding {
    /// Its name.
    pub gate: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether it is only tried out and holds nobody.
    pub shadow: bool,
    /// Jobs that it would let go now.
    pub allows: u64,
    /// Slots in use, of a gate that has slots.
    pub used: Option<i64>,
    /// The cap on them in force.
    pub limit: Option<f64>,
    /// What it counts together, if that is more than the partition.
    pub scope: Option<ScopeStanding>,
    /// Why none.
    pub denial: Option<Denial>,
}

/// A partition, and what holds its next job.
#[derive(Debug, Clone, Serialize)]
pub struct PartitionExplanation {
    /// The policy.
    pub policy: String,
    /// The key.
    pub partition: String,
    /// The instant of the snapshot.
    pub now: DateTime<Utc>,
    /// Jobs that wait and could go by their time.
    pub pending: i64,
    /// Jobs whose time is still to come.
    pub scheduled: i64,
    /// Jobs in flight.
    pub in_flight: i64,
    /// The instant before which none will go. None: nothing waits, or it waits for what `holds` says.
    pub earliest: Option<DateTime<Utc>>,
    /// What holds its next job besides time.
    pub holds: Vec<Hold>,
    /// Every gate, in declared order.
    pub gates: Vec<GateStanding>,
    /// The numbers of gates that are overridden now.
    pub overrides: Vec<Override>,
    /// Who holds the slots: the oldest.
    pub slots: Vec<Slot>,
}

pub(super) fn explain(facts: &Facts, own: &[Policy]) -> PartitionExplanation {
    let next = if facts.pending > 0 { Some(facts.now) } else { facts.next_at };
    let (earliest, holds) = match next {
        Some(at) => of_job(facts, own, at),
        None => (None, Vec::new()),
    };
    PartitionExplanation {
        policy: facts.policy.clone(),
        partition: facts.key.clone(),
        now: facts.now,
        pending: facts.pending,
        scheduled: facts.scheduled,
        in_flight: facts.in_flight,
        earliest,
        holds,
        gates: policy(facts, own).map(|policy| standings(facts, &policy)).unwrap_or_default(),
        overrides: facts.overrides.iter().filter(|one| one.until > facts.now).cloned().collect(),
        slots: facts.slots.clone(),
    }
}

/// The instant before which a job that is ready at `ready_at` will not go, and what holds it besides time.
pub(super) fn of_job(
    facts: &Facts,
    own: &[Policy],
    ready_at: DateTime<Utc>,
) -> (Option<DateTime<Utc>>, Vec<Hold>) {
    let mut holds = switches(facts);
    let looked_at = if facts.pending > 0 { facts.look_at } else { facts.eligible_at };
    let from = looked_at.max(ready_at);
    let mut earliest = None;
    match policy(facts, own) {
        Ok(policy) => {
            let states = states(facts, &policy);
            holds.extend(turn::past(facts, &policy));
            if let Fairness::Weighted { weight, .. } = policy.fairness()
                && let Err(problem) = weight.resolve(&facts.context)
            {
                holds.push(Hold { event: Event::ContextChange, why: format!("its weight: {problem}") });
            }
            let seen = forecast_under(&policy, &counted(facts), &judged(facts), &states, from);
            holds.extend(seen.lasting.iter().map(gate_hold));
            earliest = seen.at;
            for scope in &facts.scopes {
                let (at, held) = scope.hold(&policy, earliest.unwrap_or(from));
                earliest = earliest.max(at);
                holds.extend(held);
            }
            if let Some(at) = earliest.filter(|_| holds.is_empty()) {
                holds.extend(turn::coming(facts, &policy, at));
            }
        }
        Err(why) => holds.push(Hold { event: Event::Program, why }),
    }
    if !holds.is_empty() {
        earliest = None;
    }
    if ready_at > facts.now {
        holds.push(Hold { event: Event::RunAt, why: format!("it may not go before {ready_at}") });
    }
    if facts.tickers == 0 {
        holds.push(Hold { event: Event::Ticker, why: "no ticker was seen in the last minute".to_owned() });
    }
    (earliest, holds)
}

/// What operators, and the queue, hold.
fn switches(facts: &Facts) -> Vec<Hold> {
    let policy = &facts.policy;
    [
        (
            facts.retired,
            Event::Apply,
            format!("policy \"{policy}\" is retired: no longer in the configuration"),
        ),
        (!facts.engine_enabled, Event::Enable, "fairgate is disabled".to_owned()),
        (!facts.enabled, Event::Enable, format!("policy \"{policy}\" is disabled")),
        (facts.policy_paused, Event::Resume, format!("policy \"{policy}\" is paused")),
        (facts.paused, Event::Resume, format!("partition {:?} is paused", facts.key)),
        (
            !facts.queue_ready,
            Event::QueueReady,
            format!("queue \"{}\" is not ready: {}", facts.queue, facts.queue_problem),
        ),
    ]
    .into_iter()
    .filter_map(|(holds, event, why)| holds.then_some(Hold { event, why }))
    .collect()
}

/// The gates' states as the next look will see them.
fn states(facts: &Facts, policy: &Policy) -> GateStates {
    let states = GateStates::parse(facts.gates.as_deref());
    let lessons = Observation::parse_all(Some(&facts.lessons));
    observe(policy, &facts.context, states, lessons, facts.now)
}

pub(super) fn gate_hold(denial: &Denial) -> Hold {
    let event = match (denial.event, denial.reason) {
        (Some(WakeEvent::Finish), _) => Event::Finish,
        (Some(WakeEvent::ContextChange), _) | (None, DenyReason::RateZero) => Event::ContextChange,
        (None, _) => Event::Ticker,
    };
    Hold { event, why: denial.to_string() }
}

fn judged(facts: &Facts) -> gate::Facts<'_> {
    gate::Facts { context: &facts.context, pending: facts.pending, in_flight: facts.in_flight }
}

/// Its overrides, as the core reads them.
fn counted(facts: &Facts) -> Overrides {
    let core = |one: &Override| {
        Some(overrides::Override {
            gate: one.gate.parse().ok()?,
            parameter: one.parameter.clone(),
            value: one.value,
            until: one.until,
        })
    };
    facts.overrides.iter().filter_map(core).collect()
}

pub(super) fn policy(facts: &Facts, own: &[Policy]) -> Result<Policy, String> {
    let unreadable = |problem: String| {
        format!("the definition of policy \"{}\" cannot be read by this version: {problem}", facts.policy)
    };
    let definition: Definition =
        serde_json::from_str(&facts.definition).map_err(|error| unreadable(error.to_string()))?;
    let registered = Policy::from_definition(&facts.policy, definition)
        .map_err(|problems| unreadable(problems.to_string()))?;
    let policy = own.iter().find_map(|own| registered.with_closures_of(own)).unwrap_or(registered);
    if policy.gates().iter().any(gate::Gate::lacks_closure) {
        return Err(format!(
            "gates of policy \"{}\" are computed by closures of another program",
            facts.policy
        ));
    }
    Ok(policy)
}

fn standings(facts: &Facts, policy: &Policy) -> Vec<GateStanding> {
    let (overrides, now) = (counted(facts), facts.now);
    let states = states(facts, policy);
    let states = overrides.carry(policy, &judged(facts), states, None, now);
    let in_force = overrides.in_force(policy, now);
    let standing = |(at, gate): (usize, &gate::Gate)| {
        let scope = facts.scopes.iter().find(|scope| scope.gate() == at);
        let (allows, limit, denial) = match scope {
            Some(scope) => scope.answer(policy, now),
            None => answer(gate.assess(&judged(facts), states.get(gate.name()), now)),
        };
        let own = || gate.holds_slots().then_some(facts.in_flight);
        GateStanding {
            gate: gate.name().to_string(),
            kind: gate.type_name(),
            shadow: gate.is_shadow(),
            allows,
            used: scope.map_or_else(own, |scope| scope.used(policy)),
            limit,
            scope: scope.map(ScopeFacts::standing),
            denial,
        }
    };
    in_force.gates().iter().enumerate().map(standing).collect()
}

/// What is let go, the cap in force, and why nothing is.
pub(super) fn answer(assessed: Assessment) -> (u64, Option<f64>, Option<Denial>) {
    match assessed.verdict {
        Verdict::Admit(allowance) => (allowance.get(), assessed.limit, None),
        Verdict::Deny(denial) => (0, assessed.limit, Some(denial)),
    }
}
