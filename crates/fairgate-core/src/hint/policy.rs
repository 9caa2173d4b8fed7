use std::time::Duration;

use super::{EngineFacts, Hint, PolicyFacts, Severity, Thresholds, spoken};

pub(super) fn hints(engine: &EngineFacts, policy: &PolicyFacts, limits: &Thresholds) -> Vec<Hint> {
    let runs = policy.enabled && !policy.paused && !policy.retired && policy.queue_problem.is_none();
    let hints = [
        switched(policy),
        queue_not_ready(policy),
        slow_tick(engine, policy, limits),
        backlog(policy, limits).filter(|_| runs),
        handover_failures(policy, limits),
        quarantined(policy),
        never_checked(policy, limits).filter(|_| runs),
        many_partitions(policy, limits),
        held(policy, limits).filter(|_| runs),
    ];
    hints.into_iter().flatten().map(|hint| hint.of(policy)).collect()
}

fn switched(policy: &PolicyFacts) -> Option<Hint> {
    let severity = if policy.pending > 0 { Severity::Warning } else { Severity::Info };
    let waiting = policy.pending;
    if !policy.enabled {
        let found = format!("disabled: {waiting} jobs stay staged, new ones go straight to the queue");
        return Some(Hint::new(
            "policy_disabled",
            severity,
            found,
            "Enable it when its gates are wanted again.",
        ));
    }
    let found = format!("paused: {waiting} jobs wait");
    policy.paused.then(|| Hint::new("policy_paused", severity, found, "Resume it when they may go."))
}

fn queue_not_ready(policy: &PolicyFacts) -> Option<Hint> {
    let why = policy.queue_problem.as_ref()?;
    let found = format!("its queue takes no jobs: {why}");
    let advice =
        "Install the queue's tables; a running ticker notices by itself. `fairgate doctor` says more.";
    Some(Hint::new("queue_not_ready", Severity::Problem, found, advice))
}

fn slow_tick(engine: &EngineFacts, policy: &PolicyFacts, limits: &Thresholds) -> Option<Hint> {
    let most = engine.tick_max;
    (most > Duration::ZERO && policy.slowest_tick >= most.mul_f64(limits.slow_tick)).then(|| {
        let found = format!(
            "a tick of the last minute took {}; past {} it stops claiming",
            spoken(policy.slowest_tick),
            spoken(most)
        );
        let advice = "Look for a slow database or a long transaction; or lower `partition_batch_size` or \
                      `admission_batch_size`.";
        Hint::new("slow_tick", Severity::Warning, found, advice)
    })
}

/// A backlog grows, or drains in a known time.
fn backlog(policy: &PolicyFacts, limits: &Thresholds) -> Option<Hint> {
    if policy.pending < limits.backlog {
        return None;
    }
    let arrived = policy.arrived?;
    let (waiting, admitted) = (policy.pending, policy.admitted);
    if arrived > admitted * limits.outrun {
        let found = format!(
            "arrivals outrun admission: {arrived:.0} jobs a minute come, {admitted:.0} go, {waiting} wait"
        );
        let advice = "See on the policy's page which gate denies most, and raise its limit; or stage less.";
        return Some(Hint::new("arrivals_outrun", Severity::Warning, found, advice));
    }
    let shrinks = admitted - arrived;
    if shrinks <= 0.0 {
        return None;
    }
    let seconds = 60.0 * waiting as f64 / shrinks;
    (seconds >= limits.drains_within.as_secs_f64()).then(|| {
        // A float that is too large becomes the largest number, not a panic.
        let drains = spoken(Duration::from_secs(seconds as u64));
        let found = format!("{waiting} jobs wait; at this pace they have gone in {drains}");
        Hint::new("backlog_drains", Severity::Info, found, "Nothing, if that is soon enough.")
    })
}

fn handover_failures(policy: &PolicyFacts, limits: &Thresholds) -> Option<Hint> {
    (policy.failures >= limits.failures).then(|| {
        let found = format!("the queue refused {} jobs in the last 5 minutes", policy.failures);
        let advice =
            "The page of such a job shows the queue's words; jobs that it refuses too often are quarantined.";
        Hint::new("handover_failures", Severity::Warning, found, advice)
    })
}

fn quarantined(policy: &PolicyFacts) -> Option<Hint> {
    (policy.quarantined > 0).then(|| {
        let found = format!("{} jobs are quarantined: the queue refused them for good", policy.quarantined);
        Hint::new("quarantined", Severity::Warning, found, "Look at their errors, then restage or drop them.")
    })
}

fn never_checked(policy: &PolicyFacts, limits: &Thresholds) -> Option<Hint> {
    (policy.never_checked > 0).then(|| {
        let found = format!(
            "{} partitions have waited for their first look for over {}",
            policy.never_checked,
            spoken(limits.first_look_within)
        );
        let advice = "Is a ticker running for this policy and its shards? Run more of them, or raise \
                      `partition_batch_size`.";
        Hint::new("never_checked", Severity::Problem, found, advice)
    })
}

fn many_partitions(policy: &PolicyFacts, limits: &Thresholds) -> Option<Hint> {
    (policy.partitions >= limits.partitions).then(|| {
        let found = format!("it has {} partitions", policy.partitions);
        let advice = "Is `partition_by` a tenant, and not a job? Idle ones go after `partition_inactive_after`; lower it.";
        Hint::new("many_partitions", Severity::Warning, found, advice)
    })
}

/// Whether a backlog is held by its gates, or by too few workers.
fn held(policy: &PolicyFacts, limits: &Thresholds) -> Option<Hint> {
    let looks = policy.gate_denials + policy.queue_denials;
    if policy.pending < limits.backlog || looks < limits.looks {
        return None;
    }
    let waiting = policy.pending;
    let part = |some: i64| some as f64 / looks as f64;
    if part(policy.queue_denials) > limits.mostly {
        let found =
            format!("{waiting} jobs wait because workers are too few: the queue holds as many as it may");
        let advice = "Add workers to the queue; raising gates would change nothing.";
        return Some(Hint::new("few_workers", Severity::Warning, found, advice));
    }
    (part(policy.gate_denials) > limits.mostly).then(|| {
        let found = format!("{waiting} jobs wait because of their gates; workers have room");
        let advice =
            "This is what gates are for; raise a limit if it is too much. More workers would change nothing.";
        Hint::new("gates_hold", Severity::Info, found, advice)
    })
}
