use super::{EngineFacts, Hint, PolicyFacts, Severity, Thresholds, spoken};

pub(super) fn hints(engine: &EngineFacts, policies: &[PolicyFacts], limits: &Thresholds) -> Vec<Hint> {
    [
        switched_off(engine),
        no_ticker(engine, policies),
        near_target(engine, policies, limits),
        old_snapshot(engine, limits),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn switched_off(engine: &EngineFacts) -> Option<Hint> {
    let hint = || {
        Hint::new(
            "disabled",
            Severity::Problem,
            "fairgate is disabled: nothing is admitted, and new jobs go straight to their queues",
            "Enable it when that is no longer wanted.",
        )
    };
    (!engine.enabled).then(hint)
}

fn no_ticker(engine: &EngineFacts, policies: &[PolicyFacts]) -> Option<Hint> {
    let waiting: i64 = policies.iter().map(|policy| policy.pending.max(0)).sum();
    if engine.tickers > 0 {
        return None;
    }
    let severity = if waiting > 0 { Severity::Problem } else { Severity::Warning };
    Some(Hint::new(
        "no_ticker",
        severity,
        format!("no ticker was seen in the last minute; {waiting} jobs wait"),
        "Start `fairgate run`, or the program that runs a ticker.",
    ))
}

fn near_target(engine: &EngineFacts, policies: &[PolicyFacts], limits: &Thresholds) -> Option<Hint> {
    let target = engine.target?;
    let rate = policies.iter().map(|policy| policy.admitted).sum::<f64>() / 60.0;
    (rate >= target * limits.near_target).then(|| {
        Hint::new(
            "near_target",
            Severity::Warning,
            format!(
                "{rate:.1} jobs a second are admitted, {:.0}% of the target of {target}",
                100.0 * rate / target
            ),
            "The queue behind is close to what it was said to take: add workers, then raise `throughput_target`.",
        )
    })
}

fn old_snapshot(engine: &EngineFacts, limits: &Thresholds) -> Option<Hint> {
    let (age, whose) = engine.oldest_snapshot.as_ref()?;
    (*age >= limits.old_snapshot).then(|| {
        Hint::new(
            "old_snapshot",
            Severity::Warning,
            format!(
                "a transaction is open for {}, so no dead row is removed and ticks get slower: {whose}",
                spoken(*age)
            ),
            "End it: `SELECT pg_terminate_backend(PID)`, and find out why it stays open.",
        )
    })
}
