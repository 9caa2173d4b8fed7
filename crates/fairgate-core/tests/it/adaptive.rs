//! How observations move the cap.

use fairgate_core::{Claimed, Context, DenyReason, Policy, Settlement, TickPlan, WakeEvent, plan};

use crate::support::{SECOND, at, builder, claimed, limits, micros};

/// A partition with an adaptive gate under virtual time.
pub(crate) struct Tenant {
    pub(crate) policy: Policy,
    pub(crate) context: Context,
    pub(crate) gates: Option<String>,
    pub(crate) pending: i64,
    pub(crate) in_flight: i64,
    pub(crate) settled: Option<Settlement>,
}

impl Tenant {
    pub(crate) fn of(policy: Policy) -> Self {
        Self { policy, context: Context::empty(), gates: None, pending: 1_000, in_flight: 0, settled: None }
    }

    /// Begins at 4 jobs, aims at 1 s.
    pub(crate) fn plain() -> Self {
        let policy = builder().adaptive_concurrency(|a| a.initial_max(4.0).target_lag_ms(1_000.0));
        Self::of(policy.build().unwrap())
    }

    pub(crate) fn every_job(cap: f64) -> Self {
        let policy =
            builder().adaptive_concurrency(|a| a.initial_max(cap).target_lag_ms(1_000.0).every_job(true));
        Self::of(policy.build().unwrap())
    }

    pub(crate) fn plan(&self, now: i64, observations: &[Seen]) -> TickPlan {
        let partition = Claimed {
            context: self.context.clone(),
            in_flight: self.in_flight,
            gates: self.gates.clone(),
            observations: (!observations.is_empty()).then(|| json(observations)),
            ..claimed("k", self.pending)
        };
        plan(&self.policy, &[partition], &limits(None), at(now))
    }

    /// One tick: what was observed, then as many jobs as are allowed. Says how many.
    pub(crate) fn tick(&mut self, now: i64, observations: &[Seen]) -> u32 {
        let most = u32::MAX;
        self.tick_taking(now, observations, most)
    }

    pub(crate) fn tick_taking(&mut self, now: i64, observations: &[Seen], most: u32) -> u32 {
        let plan = self.plan(now, observations);
        let taken = plan.looks[0].take.min(most);
        let settled = plan.settle(&[taken]).remove(0);
        self.gates = Some(settled.gates.clone());
        self.settled = Some(settled);
        self.pending -= i64::from(taken);
        self.in_flight += i64::from(taken);
        taken
    }

    /// The stored state of the gate.
    pub(crate) fn state(&self) -> serde_json::Value {
        let states: serde_json::Value = serde_json::from_str(self.gates.as_deref().unwrap()).unwrap();
        states["adaptive_concurrency"].clone()
    }

    pub(crate) fn cap(&self) -> u64 {
        self.state()["cap"].as_u64().unwrap()
    }
}

/// When it was admitted, its lag in milliseconds, and its outcome.
pub(crate) type Seen = (i64, f64, &'static str);

pub(crate) fn json(observations: &[Seen]) -> String {
    let epoch = at(0).timestamp_micros();
    let all: Vec<_> =
        observations.iter().map(|(admitted, lag, outcome)| (epoch + admitted, lag, outcome)).collect();
    serde_json::to_string(&all).unwrap()
}

#[test]
fn it_lets_go_what_the_cap_leaves_and_says_so() {
    let mut tenant = Tenant::plain();
    let look = &tenant.plan(0, &[]).looks[0];
    assert_eq!((look.take, look.limits.as_str()), (4, r#"{"adaptive_concurrency":4}"#));
    tenant.tick(0, &[]);
    let denial = tenant.settled.as_ref().unwrap().denial.clone().unwrap();
    assert_eq!((denial.reason, denial.used, denial.limit), (DenyReason::AdaptiveFull, Some(4.0), Some(4.0)));
    assert_eq!((denial.until, denial.event), (at(SECOND), Some(WakeEvent::Finish)));
    assert_eq!(denial.to_string(), "gate adaptive_concurrency: adaptive cap reached, 4 of 4 used");
    tenant.in_flight = 1;
    assert_eq!(tenant.plan(SECOND, &[]).looks[0].take, 3);
}

#[test]
fn the_cap_grows_by_half_a_generation_until_its_first_decrease_then_by_one() {
    let mut tenant = Tenant::plain();
    let mut generation = |now: i64, lag: f64| {
        let admitted = now - SECOND;
        tenant.in_flight = 0;
        tenant.tick(now, &[(admitted, lag, "s")]);
        tenant.cap()
    };
    assert_eq!(generation(0, 0.0), 4, "admitted before anything was full");
    assert_eq!(generation(SECOND, 0.0), 6);
    assert_eq!(generation(2 * SECOND, 0.0), 9);
    assert_eq!(generation(3 * SECOND, 0.0), 13);
    assert_eq!(generation(4 * SECOND, 4_000.0), 12);
    assert_eq!(generation(5 * SECOND, 0.0), 13, "the average is back at the target");
    assert_eq!(generation(6 * SECOND, 0.0), 14);
}

#[test]
fn only_a_job_admitted_after_the_cap_last_moved_moves_it_and_every_lag_counts() {
    let mut tenant = Tenant::plain();
    tenant.tick(0, &[]);
    tenant.tick(2 * SECOND, &[(0, 4_000.0, "s"), (0, 4_000.0, "s"), (0, 0.0, "f")]);
    assert_eq!(tenant.cap(), 2, "the job that started first failed, one step for all three");
    assert_eq!(tenant.state()["ewma"], 3_000.0);
    assert_eq!(tenant.state()["moved_at"], at(2 * SECOND).timestamp_micros());
    tenant.tick(3 * SECOND, &[(0, 4_000.0, "s"), (0, 100.0, "f"), (2 * SECOND - 1, 100.0, "f")]);
    assert_eq!(tenant.cap(), 2, "all three are older than the move");
    tenant.tick(4 * SECOND, &[(2 * SECOND, 100.0, "f")]);
    assert_eq!(tenant.cap(), 1, "admitted at the look that moved it, so after the move");
}

#[test]
fn an_ignored_job_teaches_nothing() {
    let mut tenant = Tenant::plain();
    tenant.tick(0, &[]);
    let before = tenant.state();
    tenant.tick(0, &[(0, 99_000.0, "i")]);
    assert_eq!(tenant.state(), before);
    let mut every = Tenant::every_job(4.0);
    every.tick(0, &[(0, 99_000.0, "i")]);
    assert_eq!(every.cap(), 4);
}

#[test]
fn the_cap_never_leaves_its_bounds_and_the_larger_bound_wins() {
    let policy = builder().adaptive_concurrency(|a| {
        a.initial_max(4.0).target_lag_ms(1_000.0).min_from("min", 1.0).max_from("max", 5.0)
    });
    let mut tenant = Tenant::of(policy.build().unwrap());
    tenant.tick(0, &[]);
    tenant.tick(SECOND, &[(0, 0.0, "s")]);
    assert_eq!(tenant.cap(), 5, "not 6");
    tenant.context = crate::support::context(r#"{"min":3}"#);
    tenant.tick(2 * SECOND, &[(SECOND, 0.0, "f")]);
    assert_eq!(tenant.cap(), 3, "not 2");
    tenant.context = crate::support::context(r#"{"max":2,"min":3}"#);
    assert_eq!(tenant.plan(3 * SECOND, &[]).looks[0].limits, r#"{"adaptive_concurrency":2}"#);
    tenant.context = crate::support::context(r#"{"max":0}"#);
    tenant.in_flight = 0;
    let denial = tenant.plan(4 * SECOND, &[]).looks[0].denial.clone().unwrap();
    assert_eq!((denial.used, denial.limit), (Some(0.0), Some(0.0)));
}

#[test]
fn a_number_that_cannot_be_read_denies_and_keeps_what_was_learnt() {
    let policy = builder()
        .adaptive_concurrency(|a| a.initial_max_from("initial", 4.0).target_lag_ms_from("target", 1_000.0));
    let mut tenant = Tenant::of(policy.build().unwrap());
    tenant.tick(0, &[]);
    let bad = crate::support::context(r#"{"target":"soon"}"#);
    let good = std::mem::replace(&mut tenant.context, bad);
    tenant.tick(SECOND, &[(0, 500.0, "f")]);
    assert_eq!((tenant.cap(), &tenant.state()["ewma"]), (4, &serde_json::json!(500.0)));
    let denial = tenant.settled.as_ref().unwrap().denial.clone().unwrap();
    assert_eq!((denial.reason, denial.bad.unwrap().parameter), (DenyReason::BadParameter, "target_lag_ms"));
    assert_eq!(micros(denial.until), 61 * SECOND);
    tenant.context = good;
    tenant.tick(2 * SECOND, &[(0, 500.0, "f")]);
    assert_eq!(tenant.cap(), 2);
    let mut new = Tenant::of(tenant.policy.clone());
    new.context = crate::support::context(r#"{"initial":-1}"#);
    new.tick(0, &[(0, 0.0, "f")]);
    assert_eq!(new.gates.as_deref(), Some("{}"), "nothing is known, so nothing is kept");
}

#[test]
fn what_was_learnt_is_stored_also_when_only_observations_came() {
    let mut tenant = Tenant::plain();
    tenant.tick(0, &[]);
    (tenant.pending, tenant.in_flight) = (0, 3);
    assert_eq!(tenant.tick(SECOND, &[(0, 0.0, "f")]), 0);
    assert_eq!(tenant.cap(), 2);
    let mut new = Tenant::plain();
    new.pending = 0;
    new.tick(SECOND, &[(0, 0.0, "f")]);
    assert_eq!(new.cap(), 2);
}

#[test]
fn two_adaptive_gates_learn_each_in_its_own_state() {
    let policy = builder()
        .adaptive_concurrency(|a| a.initial_max(8.0).target_lag_ms(100.0).named("fast"))
        .adaptive_concurrency(|a| a.initial_max(6.0).target_lag_ms(5_000.0).named("slow"));
    let mut tenant = Tenant::of(policy.build().unwrap());
    assert_eq!(tenant.tick(0, &[]), 6);
    tenant.tick(SECOND, &[(0, 1_000.0, "s")]);
    let states: serde_json::Value = serde_json::from_str(tenant.gates.as_deref().unwrap()).unwrap();
    assert_eq!((&states["fast"]["cap"], &states["slow"]["cap"]), (&7.into(), &9.into()));
}
