use std::time::Duration;

use fairgate_core::{Definition, HalfLife, KeyError, Policy, Problems, Settings};

use crate::support::{builder, context, limits, seconds};

fn places(problems: &Problems) -> Vec<&str> {
    problems.iter().map(|problem| problem.at.as_str()).collect()
}

#[test]
fn gates_are_optional_and_partition_by_is_not() {
    let policy = builder().build().unwrap();
    assert!(policy.gates().is_empty());
    let problems = Policy::builder("p").queue("main").build().unwrap_err();
    assert_eq!(
        problems.to_string(),
        "partition_by: it is missing; set it, for example partition_by = \"account_id\""
    );
}

#[test]
fn every_problem_is_reported_at_once() {
    let problems = Policy::builder("1st policy")
        .shard_by("a{")
        .throttle(|t| t.rate(-1.0).per(Duration::ZERO).burst(0.5))
        .throttle(|t| t.rate_from("a..b", f64::NAN))
        .concurrency(|c| c.max(f64::INFINITY).full_backoff(seconds(1_000_000_000)))
        .concurrency(|c| c.named("bad name"))
        .admission_batch_size(0)
        .tick_admission_budget(0)
        .fairness_half_life(HalfLife::Of(Duration::ZERO))
        .build()
        .unwrap_err();
    assert_eq!(
        places(&problems),
        [
            "name",
            "queue",
            "partition_by",
            "shard_by",
            "gates.throttle.name",
            "gates.throttle.rate",
            "gates.throttle.per",
            "gates.throttle.burst",
            "gates.throttle.rate.default",
            "gates.throttle.rate.from",
            "gates.throttle.per",
            "gates.concurrency.max",
            "gates.concurrency.full_backoff",
            "gates.bad name.name",
            "gates.bad name.max",
            "admission_batch_size",
            "tick_admission_budget",
            "fairness_half_life",
        ]
    );
    assert_eq!(problems.to_string().lines().count(), 18);
}

#[test]
fn a_type_that_comes_twice_needs_names() {
    let two = |a: &'static str, b: &'static str| {
        builder().concurrency(move |c| c.max(1.0).named(a)).concurrency(move |c| c.max(2.0).named(b)).build()
    };
    let problems = two("x", "x").unwrap_err();
    assert_eq!(problems.to_string(), "gates.x.name: 2 gates are called x; give each its own `name`");
    assert_eq!(two("x", "y").unwrap().gates().len(), 2);
}

#[test]
fn a_definition_is_checked_like_a_builder() {
    let json = r#"{"queue":"main","partition_by":"a","gates":[{"type":"throttle","rate":1e13,"per":"1us"},{"type":"throttle","rate":1,"per":"4000d"}],"tick_admission_budget":0}"#;
    let definition: Definition = serde_json::from_str(json).unwrap();
    let problems = Policy::from_definition("p", definition).unwrap_err();
    assert_eq!(
        places(&problems),
        [
            "gates.throttle.name",
            "gates.throttle.rate",
            "gates.throttle.per",
            "gates.throttle.per",
            "tick_admission_budget",
        ]
    );
}

#[test]
fn keys_and_shards_are_computed_from_the_context() {
    let policy = builder().partition_by("acct:{id}").shard_by("region").build().unwrap();
    let eu = context(r#"{"id":7,"region":"eu"}"#);
    assert_eq!(policy.partition_key(&eu).unwrap().as_str(), "acct:7");
    assert_eq!(policy.shard(&eu).unwrap().as_str(), "eu");
    let nowhere = policy.shard(&context(r#"{"id":7}"#));
    assert!(matches!(nowhere, Err(KeyError::Missing { .. })));
    let unsharded = builder().build().unwrap();
    assert_eq!(unsharded.shard(&eu).unwrap().as_str(), "default");
    let long = context(&format!(r#"{{"id":7,"region":"{}"}}"#, "x".repeat(201)));
    assert!(matches!(policy.shard(&long), Err(KeyError::Invalid(_))));
}

#[test]
fn closures_are_mentioned_in_the_definition_and_found_again_by_it() {
    let here = Policy::builder("p")
        .queue("main")
        .partition_by_fn(|context| context.as_json().len().to_string())
        .throttle(|t| t.rate_fn(|_| 5.0).per(seconds(1)))
        .build()
        .unwrap();
    assert!(here.has_closures() && !here.lacks_closures());
    let stored = Policy::from_definition("p", here.definition()).unwrap();
    assert!(stored.has_closures() && stored.lacks_closures());
    assert_eq!(stored.partition_key(&context("{}")), Err(KeyError::NoClosure));

    let joined = stored.with_closures_of(&here).unwrap();
    assert!(!joined.lacks_closures());
    assert_eq!(joined.partition_key(&context("{}")).unwrap().as_str(), "2");

    let other = builder().build().unwrap();
    assert!(stored.with_closures_of(&other).is_none());
    let renamed = Policy::from_definition("q", here.definition()).unwrap();
    assert!(renamed.with_closures_of(&here).is_none());
    assert!(!other.has_closures() && !other.lacks_closures());
}

#[test]
fn a_policy_overrides_the_engines_limits_one_by_one() {
    let engine = limits(Some(200));
    assert_eq!(Settings::default().resolve(&engine), engine);
    let policy = builder()
        .admission_batch_size(7)
        .tick_admission_budget(9)
        .fairness_half_life(HalfLife::None)
        .build()
        .unwrap();
    let own = policy.settings().resolve(&engine);
    assert_eq!(own.admission_batch_size, 7);
    assert_eq!(own.tick_admission_budget, Some(9));
    assert_eq!(own.half_life, None);
}
