use fairgate_core::{Definition, GateDefinition, HalfLife, Policy};

use crate::support::seconds;

const FULL: &str = r#"{"queue":"main","partition_by":"acct:{account.id}","shard_by":"region","retry":"bypass","gates":[{"type":"throttle","name":"per_minute","rate":{"from":"rate_limit","default":60.0},"per":"1m","burst":10.0},{"type":"throttle","name":"per_hour","rate":{"computed":true},"per":"1h"},{"type":"concurrency","name":"concurrency","max":{"from":"max"},"full_backoff":"1s"}],"admission_batch_size":50,"fairness_half_life":"none","tick_admission_budget":200}"#;

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
        r#"{"queue":"main","partition_by":{"computed":true},"retry":"bypass","gates":[{"type":"concurrency","name":"concurrency","max":5.0,"full_backoff":"1s"}]}"#
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
        "a throttle gate has no `max`; its keys are type, name, rate, per, burst at line 1 column 47"
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
fn what_is_not_there_yet_is_refused_in_so_many_words() {
    for json in [
        r#"{"type":"adaptive_concurrency","initial_max":3}"#,
        r#"{"type":"concurrency","max":1,"scope":"policy"}"#,
        r#"{"type":"throttle","rate":1,"per":"1s","shadow":true}"#,
    ] {
        assert!(gate_error(json).contains("not available yet"), "{json}");
    }
    let json = r#"{"queue":"main","partition_by":"a","retry":"restage"}"#;
    let error = serde_json::from_str::<Definition>(json).unwrap_err().to_string();
    assert!(error.contains("not available yet"), "{error}");
}
