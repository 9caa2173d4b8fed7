//! Whose jobs a gate counts together.

use fairgate_core::{DenyReason, Gate, Policy, Scope, ScopeKey, WakeEvent};

use crate::support::{Partition, SECOND, at, builder, context, seconds};

fn scoped(scope: &'static str) -> Gate {
    let policy = builder().concurrency(|c| c.max(1.0).scope(scope)).build().unwrap();
    policy.gates()[0].clone()
}

#[test]
fn a_gate_counts_the_partition_unless_it_says_otherwise() {
    let policy = builder()
        .throttle(|t| t.rate(1.0).per(seconds(1)))
        .concurrency(|c| c.max(1.0).scope_policy())
        .throttle(|t| t.rate(1.0).per(seconds(1)).scope("account.id").named("b"))
        .build()
        .unwrap();
    let path = Scope::Path("account.id".parse().unwrap());
    let scopes: Vec<_> = policy.gates().iter().map(Gate::scope).collect();
    assert_eq!(scopes, [&Scope::Partition, &Scope::Policy, &path]);
    let again = Policy::from_definition("p", policy.definition()).unwrap();
    assert_eq!(again.definition(), policy.definition());
}

#[test]
fn a_scope_key_is_text_by_the_rules_of_partition_by() {
    let gate = scoped("account.id");
    for (value, text) in
        [(r#""x""#, "x"), ("7", "7"), (r#""7""#, "7"), ("1e2", "100"), ("-0", "0"), ("true", "true")]
    {
        let context = context(&format!(r#"{{"account":{{"id":{value}}}}}"#));
        let key = gate.scope_key(&context, at(0)).unwrap();
        assert_eq!(key, Some(ScopeKey::Value(text.parse().unwrap())), "{value}");
    }
    assert_eq!(scoped("policy").scope_key(&context("{}"), at(0)).unwrap(), Some(ScopeKey::Policy));
    assert_eq!(scoped("partition").scope_key(&context("{}"), at(0)).unwrap(), None);
}

#[test]
fn a_context_without_a_scope_denies_and_says_what_stands_there() {
    let gate = scoped("id");
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(10_001));
    for (json, found) in [
        ("{}", "missing"),
        (r#"{"id":null}"#, "null"),
        (r#"{"id":1.0}"#, "the number 1.0"),
        (r#"{"id":9223372036854775808}"#, "the number 9223372036854775808"),
        (r#"{"id":[1]}"#, "an object or an array"),
        (r#"{"id":""}"#, "an empty text"),
        (long.as_str(), "a text of 10001 bytes"),
    ] {
        let denial = gate.scope_key(&context(json), at(0)).unwrap_err();
        assert_eq!((denial.reason, denial.event), (DenyReason::BadScope, Some(WakeEvent::ContextChange)));
        assert_eq!(denial.until, at(60 * SECOND));
        let expected = format!(
            "gate concurrency: scope cannot be read, `id` in the context is {found}; a scope is a string, a boolean or a 64-bit integer"
        );
        assert_eq!(denial.to_string(), expected);
    }
}

#[test]
fn a_gate_without_a_scope_key_lets_nothing_go_and_one_with_it_is_not_asked_here() {
    let policy = builder().throttle(|t| t.rate(1.0).per(seconds(60)).scope("id")).build().unwrap();
    let mut partition = Partition::of(&policy);
    partition.context = context("{}");
    let decision = partition.decide(0);
    assert_eq!((decision.allowance, decision.due), (0, at(60 * SECOND)));
    assert_eq!(decision.denial.unwrap().reason, DenyReason::BadScope);
    partition.context = context(r#"{"id":1}"#);
    partition.take(0, 9);
    assert_eq!((partition.allowance(0), partition.states.as_deref()), (u64::MAX, Some("{}")));
}

#[test]
fn a_scope_that_cannot_be_is_refused_with_the_rest() {
    let definition: fairgate_core::GateDefinition =
        serde_json::from_str(r#"{"type":"adaptive_concurrency","initial_max":1,"target_lag_ms":1}"#).unwrap();
    let adaptive = fairgate_core::GateDefinition { scope: Scope::Policy, ..definition };
    let mut policy = builder().build().unwrap().definition();
    policy.gates = vec![adaptive];
    assert_eq!(
        Policy::from_definition("p", policy).unwrap_err().to_string(),
        "gates.adaptive_concurrency.scope: an adaptive cap follows the lag of one partition and takes no scope; remove it, or use \"concurrency\""
    );
    let problems = builder()
        .throttle(|t| t.rate(-1.0).per(seconds(1)).scope("a..b"))
        .concurrency(|c| c.max(1.0).scope(""))
        .build()
        .unwrap_err();
    let places: Vec<_> = problems.iter().map(|problem| problem.at.as_str()).collect();
    assert_eq!(places, ["gates.throttle.scope", "gates.throttle.rate", "gates.concurrency.scope"]);
}
