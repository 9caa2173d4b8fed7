use fairgate_core::{Definition, GateDefinition, HalfLife, Policy, Scope};

use crate::support::seconds;

const FULL: &str = r#"{"queue":"main","partition_by":"acct:{account.id}","shard_by":"region","retry":"bypass","gates":[{"type":"throttle","name":"per_minute","rate":{"from":"rate_limit","default":60.0},"per":"1m","burst":10.0},{"type":"throttle","name":"per_hour","rate":{"computed":true},"per":"1h"},{"type":"concurrency","name":"concurrency","max":{"from":"max"},"full_backoff":"1s","scope":"account.id"},{"type":"concurrency","name":"all","max":9.0,"full_backoff":"1s","scope":"policy","shadow":true},{"type":"adaptive_concurrency","name":"lag","initial_max":3.0,"target_lag_ms":{"from":"lag","default":1000.0},"min":2.0,"max":{"computed":true},"ewma_alpha":0.25,"failure_decrease_factor":0.75,"overload_decrease_factor":0.5,"full_backoff":"2s","every_job":true,"shadow":true}],"admission_batch_size":50,"fairness_half_life":"none","tick_admission_budget":200}"#;

fn gate_error(json: &str) -> String {
    serde_json::from_str::<GateDefinition>(json).unwrap_err().to_string()
}

#[test]
fn a_definition_comes_back_from_json_letter_by_letter() {
    let definition: Definition = serde_json::from_str(FULL).unwrap();
    assert_eq!(serde_json::to_string(&definition).unwrap(), FULL);
    let policy = Policy::from_definition("p", definition.clone()).unwrap();
    assert_eq!(policy.definition(), definition);
}

#[test]
fn what_is_left_out_stays_out_and_gets_its_default() {
    let definition: Definition = serde_json::from_str(
        r#"{"queue":"main","partition_by":{"computed":true},"gates":[{"type":"concurrency","max":5}]}"#,
    )
    .unwrap();
    assert_eq!(
        serde_json::to_string(&definition).unwrap(),
        r#"{"queue":"main","partition_by":{"computed":true},"gates":[{"type":"concurrency","name":"concurrency","max":5.0,"full_backoff":"1s"}]}"#
    );
}

#[test]
fn an_adaptive_gate_needs_two_numbers_and_gets_the_documented_others() {
    let json = r#"{"type":"adaptive_concurrency","initial_max":3,"target_lag_ms":1000}"#;
    let gate: GateDefinition = serde_json::from_str(json).unwrap();
    assert_eq!(
        serde_json::to_string(&gate).unwrap(),
        r#"{"type":"adaptive_concurrency","name":"adaptive_concurrency","initial_max":3.0,"target_lag_ms":1000.0,"min":1.0,"ewma_alpha":0.5,"failure_decrease_factor":0.5,"overload_decrease_factor":0.95,"full_backoff":"1s"}"#
    );
    let missing = gate_error(r#"{"type":"adaptive_concurrency","initial_max":3}"#);
    assert!(missing.starts_with("an adaptive_concurrency gate needs `target_lag_ms`"), "{missing}");
    let unknown = gate_error(r#"{"type":"adaptive_concurrency","initial_max":3,"target_lag":1}"#);
    assert!(
        unknown.starts_with("an adaptive_concurrency gate has no `target_lag`; its keys are type,"),
        "{unknown}"
    );
}

#[test]
fn a_scope_is_the_partition_the_policy_or_a_path_and_never_on_an_adaptive_gate() {
    for (text, scope) in [
        ("partition", Scope::Partition),
        ("policy", Scope::Policy),
        ("account.id", Scope::Path("account.id".parse().unwrap())),
    ] {
        assert_eq!(text.parse(), Ok(scope.clone()));
        assert_eq!(scope.to_string(), text);
    }
    let empty = gate_error(r#"{"type":"concurrency","max":1,"scope":""}"#);
    assert!(empty.starts_with("`scope`: a context path must not be empty"), "{empty}");
    let adaptive =
        gate_error(r#"{"type":"adaptive_concurrency","initial_max":1,"target_lag_ms":1,"scope":"policy"}"#);
    assert!(
        adaptive.starts_with(
            "`scope`: an adaptive cap follows the lag of one partition and takes no scope; remove it"
        ),
        "{adaptive}"
    );
}

#[test]
fn a_half_life_is_none_or_a_duration() {
    let read = |json| serde_json::from_str::<HalfLife>(json);
    assert_eq!(read("\"none\"").unwrap(), HalfLife::None);
    assert_eq!(read("\"60s\"").unwrap(), HalfLife::Of(seconds(60)));
    let error = read("\"never\"").unwrap_err().to_string();
    assert!(error.starts_with("a half-life is \"none\" or a duration"), "{error}");
}

#[test]
fn unknown_keys_are_refused() {
    let json = r#"{"queue":"main","partition_by":"a","max_pendng":1}"#;
    let error = serde_json::from_str::<Definition>(json).unwrap_err().to_string();
    assert!(error.contains("max_pendng"), "{error}");
    assert_eq!(
        gate_error(r#"{"type":"throttle","rate":1,"per":"1s","max":1}"#),
        "a throttle gate has no `max`; its keys are type, name, rate, per, burst, scope, shadow at line 1 column 47"
    );
    assert!(gate_error(r#"{"type":"concurrency","max":{"form":"x"}}"#).contains("form"));
}

#[test]
fn what_is_missing_in_a_gate_is_named() {
    assert!(gate_error(r#"{"max":1}"#).contains("needs `type`"));
    assert!(gate_error(r#"{"type":"throttle","per":"1s"}"#).contains("needs `rate`"));
    assert!(gate_error(r#"{"type":"throttle","rate":1}"#).contains("needs `per`"));
    assert!(gate_error(r#"{"type":"concurrency"}"#).contains("needs `max`"));
    assert!(gate_error(r#"{"type":"throttle","rate":1,"per":"1 m"}"#).contains("`per`: "));
    assert!(gate_error(r#"{"type":"tollgate"}"#).contains("no gate of type \"tollgate\""));
}

#[test]
fn a_retry_is_restage_or_bypass() {
    for word in ["restage", "bypass"] {
        let json = format!(r#"{{"queue":"main","partition_by":"a","retry":"{word}"}}"#);
        let definition: Definition = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&definition).unwrap(), json);
    }
    let error = serde_json::from_str::<Definition>(r#"{"queue":"main","partition_by":"a","retry":"never"}"#);
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("there is no retry \"never\"; use \"restage\" or \"bypass\""), "{error}");
}

#[test]
fn a_backlog_cap_and_what_dedupe_keys_do_are_stored() {
    let json = r#"{"queue":"main","partition_by":"a","max_pending":7,"dedupe":{"until":"admitted","on_conflict":"replace"}}"#;
    let definition: Definition = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&definition).unwrap(), json);
    let none = Definition { max_pending: Some(0), ..definition };
    let problems = Policy::from_definition("p", none).unwrap_err().to_string();
    assert_eq!(
        problems,
        "max_pending: it is 0, which would refuse every job; set at least 1, or leave it out"
    );
}
