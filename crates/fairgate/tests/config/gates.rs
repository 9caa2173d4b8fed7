//! The mistakes that adaptive gates, scopes and shadows can have.

use fairgate::config::Config;

use crate::{POLICY, QUEUE, gate_problems};

const ADAPTIVE: &str = "type = \"adaptive_concurrency\"\n";

#[test]
fn an_adaptive_gate_needs_a_beginning_and_a_target() {
    assert_eq!(
        gate_problems(ADAPTIVE),
        "\
f.toml:6:1: policies.p.gates[0].initial_max: it is missing; set it, for example initial_max = 3
f.toml:6:1: policies.p.gates[0].target_lag_ms: it is missing; set it, for example target_lag_ms = 1000"
    );
}

#[test]
fn knobs_out_of_range_are_refused_together_each_at_its_line() {
    let keys = "initial_max = 0\ntarget_lag_ms = { from = \"lag\", default = -1 }\nmin = 5\nmax = 4\newma_alpha = 0\n\
                failure_decrease_factor = 1\noverload_decrease_factor = nan\nfull_backoff = \"0s\"\n";
    assert_eq!(
        gate_problems(&format!("{ADAPTIVE}{keys}")),
        "\
f.toml:8:15: policies.p.gates[0].initial_max: 0 is too small; the least is 1
f.toml:9:43: policies.p.gates[0].target_lag_ms.default: -1 is too small; the least is 1
f.toml:11:7: policies.p.gates[0].max: 4 is less than the `min` of 5
f.toml:12:14: policies.p.gates[0].ewma_alpha: 0 is out of range; give a number above 0 and at most 1
f.toml:13:27: policies.p.gates[0].failure_decrease_factor: 1 is out of range; give a number above 0 and below 1
f.toml:14:28: policies.p.gates[0].overload_decrease_factor: NaN is out of range; give a number above 0 and below 1
f.toml:15:16: policies.p.gates[0].full_backoff: 0s is too short; the shortest is 1ms"
    );
    assert_eq!(
        gate_problems(&format!("{ADAPTIVE}initial_max = 9\ntarget_lag_ms = 1\nmax = 8")),
        "f.toml:8:15: policies.p.gates[0].initial_max: 9 is more than the `max` of 8"
    );
}

#[test]
fn values_of_the_wrong_kind_say_what_is_wanted() {
    let keys = "initial_max = \"3\"\ntarget_lag_ms = \"1s\"\newma_alpha = \"half\"\nevery_job = 1\nshadow = \"yes\"\n";
    assert_eq!(
        gate_problems(&format!("{ADAPTIVE}{keys}")),
        "\
f.toml:8:15: policies.p.gates[0].initial_max: is the text \"3\"; give a number, or { from = \"a path in the context\", default = 5 }
f.toml:9:17: policies.p.gates[0].target_lag_ms: is the text \"1s\"; give a number, or { from = \"a path in the context\", default = 5 }
f.toml:10:14: policies.p.gates[0].ewma_alpha: is the text \"half\"; give a number
f.toml:11:13: policies.p.gates[0].every_job: is the number 1; give true or false
f.toml:12:10: policies.p.gates[0].shadow: is the text \"yes\"; give true or false"
    );
    assert_eq!(
        gate_problems("type = 7"),
        "f.toml:7:8: policies.p.gates[0].type: is the number 7; give \"throttle\", \"concurrency\" or \"adaptive_concurrency\""
    );
}

#[test]
fn keys_that_a_gate_does_not_have_are_refused() {
    let right = "initial_max = 3\ntarget_lag_ms = 1000\n";
    assert_eq!(
        gate_problems(&format!("{ADAPTIVE}{right}target_lag = 5")),
        "f.toml:10:1: policies.p.gates[0].target_lag: unknown key \"target_lag\"; did you mean \"target_lag_ms\"?"
    );
    assert_eq!(
        gate_problems(&format!("{ADAPTIVE}{right}burst = 5")),
        "f.toml:10:1: policies.p.gates[0].burst: unknown key \"burst\"; the keys here are type, name, initial_max, target_lag_ms, \
         min, max, ewma_alpha, failure_decrease_factor, overload_decrease_factor, full_backoff, every_job, shadow"
    );
    assert_eq!(
        gate_problems("type = \"concurrency\"\nmax = 1\nevery_job = true"),
        "f.toml:9:1: policies.p.gates[0].every_job: unknown key \"every_job\"; the keys here are type, name, max, full_backoff, \
         scope, shadow"
    );
    assert_eq!(
        gate_problems("type = \"adaptive_concurency\""),
        "f.toml:7:8: policies.p.gates[0].type: there is no gate type \"adaptive_concurency\"; did you mean \"adaptive_concurrency\"?"
    );
}

#[test]
fn an_adaptive_gate_takes_no_scope() {
    assert_eq!(
        gate_problems(&format!("{ADAPTIVE}initial_max = 3\ntarget_lag_ms = 1000\nscope = \"policy\"")),
        "f.toml:10:1: policies.p.gates[0].scope: an adaptive cap follows the lag of one partition and takes no scope; remove it, \
         or use \"concurrency\""
    );
}

#[test]
fn a_scope_is_the_word_policy_or_a_context_path() {
    let gate = |scope: &str| format!("type = \"concurrency\"\nmax = 1\nscope = {scope}");
    assert_eq!(
        gate_problems(&gate("\"a..b\"")),
        "f.toml:9:9: policies.p.gates[0].scope: the context path \"a..b\" has an empty segment; write one such as account.id"
    );
    assert_eq!(
        gate_problems(&gate("true")),
        "f.toml:9:9: policies.p.gates[0].scope: is true; give a context path as text such as \"account_id\", or \"policy\" for \
         one count over all partitions"
    );
    for scope in ["partition", "policy", "account.id"] {
        let text = format!("{QUEUE}{POLICY}[[policies.p.gates]]\n{}", gate(&format!("{scope:?}")));
        let config = Config::parse(&text, "f.toml").unwrap();
        assert_eq!(config.policies[0].gates()[0].scope().to_string(), scope);
    }
}
