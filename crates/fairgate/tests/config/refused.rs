//! Mistakes of every kind.

use fairgate::config::Config;

use crate::{QUEUE, policy_problems, problems};

#[test]
fn ten_mistakes_are_reported_together_in_the_order_of_the_lines() {
    let text = r#"
colour = "red"
[engine]
idle_pauze = "1s"
busy_pause = 5
partition_batch_size = 0
[queues.main]
type = "graphile_worker"
[policies.webhooks]
queue = "mian"
[[policies.webhooks.gates]]
type = "throttle"
rate = { from = "rate", defualt = 4 }
per = "1 minute"
[[policies.webhooks.gates]]
type = "concurrency"
max = "5"
full_backoff = "0s"
"#;
    let expected = "\
fairgate.toml:2:1: colour: unknown key \"colour\"; the keys here are revision, engine, queues, policies
fairgate.toml:4:1: engine.idle_pauze: unknown key \"idle_pauze\"; did you mean \"idle_pause\"?
fairgate.toml:5:14: engine.busy_pause: is the number 5; give a duration with its unit: write \"5s\"
fairgate.toml:6:24: engine.partition_batch_size: is 0; give a number from 1 to 10000
fairgate.toml:9:1: policies.webhooks.partition_by: it is missing; set it, for example partition_by = \"account_id\"
fairgate.toml:10:9: policies.webhooks.queue: there is no queue \"mian\" in this file; did you mean \"main\"?
fairgate.toml:13:25: policies.webhooks.gates[0].rate.defualt: unknown key \"defualt\"; did you mean \"default\"?
fairgate.toml:14:7: policies.webhooks.gates[0].per: \"1 minute\" is not a duration: \" minute\" after 1 is not a unit; \
use d, h, m, s, ms, us or ns, as in 1s
fairgate.toml:17:7: policies.webhooks.gates[1].max: is the text \"5\"; give a number, or { from = \"a path in the context\", default = 5 }
fairgate.toml:18:16: policies.webhooks.gates[1].full_backoff: 0s is too short; the shortest is 1ms";
    let errors = Config::parse(text, "fairgate.toml").unwrap_err();
    assert_eq!(errors.to_string(), expected);
    assert_eq!(errors.problems().len(), 10);
    assert_eq!(errors.file(), "fairgate.toml");
    assert_eq!((errors.problems()[1].line, errors.problems()[1].column), (4, 1));
}

#[test]
fn values_of_the_wrong_kind_say_what_was_found_and_what_is_wanted() {
    let text = format!(
        "[engine]\npartition_batch_size = 1.5\nadmission_batch_size = -1\nthroughput_target = []\npooled = 1\n\
         fairness_half_life = false\nidle_pause = 0.25\nsweep_every = 1979-05-27\nmax_forward_attempts = 70000\n\
         heartbeat_interval = \"\"\n{QUEUE}policies = 5\n"
    );
    assert_eq!(
        problems(&text.replace("policies", "policy")),
        "\
f.toml:2:24: engine.partition_batch_size: is the number 1.5; give a whole number from 1 to 10000
f.toml:3:24: engine.admission_batch_size: is the number -1; give a whole number from 1 to 100000
f.toml:4:21: engine.throughput_target: is an array; give a number
f.toml:5:10: engine.pooled: is the number 1; give true or false
f.toml:6:22: engine.fairness_half_life: is false; give a duration such as \"25s\", or \"none\"
f.toml:7:14: engine.idle_pause: is the number 0.25; give a duration with its unit: write \"250ms\"
f.toml:8:15: engine.sweep_every: is the time 1979-05-27; give a duration such as \"25s\"
f.toml:9:24: engine.max_forward_attempts: is the number 70000; give a whole number from 1 to 1000
f.toml:10:22: engine.heartbeat_interval: a duration is missing; write one such as 500ms, 25s or 1h30m
f.toml:13:1: queues.main.policy: unknown key \"policy\"; the keys here are type, schema, max_waiting"
    );
    assert_eq!(problems("queues = 3"), "f.toml:1:10: queues: is the number 3; give a table: [queues]");
    assert_eq!(
        policy_problems("gates = { type = \"concurrency\" }"),
        "f.toml:6:9: policies.p.gates: is a table; give an array of tables: [[policies.p.gates]]"
    );
    assert_eq!(
        policy_problems("gates = [1]"),
        "f.toml:6:10: policies.p.gates[0]: is the number 1; give an array of tables: [[policies.p.gates]]"
    );
}

#[test]
fn a_setting_that_clashes_with_a_default_is_reported_at_its_section() {
    assert_eq!(
        problems(&format!("[engine]\nheartbeat_interval = \"10m\"\n{QUEUE}")),
        "f.toml:1:1: engine.inflight_stale_after: is less than two heartbeat_intervals, so one late beat would free the slot \
         of a running job; raise it"
    );
}

#[test]
fn text_that_is_not_toml_is_shown() {
    assert_eq!(
        problems("[engine]\n\tidle_pause = 5s\n"),
        "\
f.toml:2:15: this is not TOML: text must be quoted; write \"5s\"
  2 | \tidle_pause = 5s
    | \t             ^"
    );
    assert_eq!(
        problems("a = 1\na = 2"),
        "\
f.toml:2:1: this is not TOML: duplicate key
  2 | a = 2
    | ^"
    );
}

#[test]
fn retries_backlog_caps_and_dedupe_say_what_they_take() {
    for (keys, problem) in [
        (
            "retry = \"never\"",
            "6:9: policies.p.retry: there is no retry \"never\"; use \"restage\" or \"bypass\"",
        ),
        (
            "max_pending = 0",
            "6:15: policies.p.max_pending: it is 0, which would refuse every job; set at least 1, or leave it out",
        ),
        ("dedupe = 3", "6:10: policies.p.dedupe: is the number 3; give a table: [policies.p.dedupe]"),
        (
            "dedupe = { untill = \"finished\" }",
            "6:12: policies.p.dedupe.untill: unknown key \"untill\"; did you mean \"until\"?",
        ),
        (
            "dedupe = { until = \"started\" }",
            "6:20: policies.p.dedupe.until: there is no until \"started\"; use \"admitted\" or \"finished\"",
        ),
        (
            "dedupe = { on_conflict = \"drop\" }",
            "6:26: policies.p.dedupe.on_conflict: there is no on_conflict \"drop\"; use \"keep\" or \"replace\"",
        ),
    ] {
        assert_eq!(crate::policy_problems(keys), format!("f.toml:{problem}"), "{keys}");
    }
}

#[test]
fn the_least_value_that_is_named_is_one_that_is_taken() {
    for (keys, least) in
        [("max_pending = -1", 1), ("tick_admission_budget = -1", 1), ("admission_batch_size = 1.5", 1)]
    {
        let told = policy_problems(keys);
        assert!(told.contains(&format!("give a whole number from {least} to ")), "{told}");
    }
    let told = problems("[queues.main]\ntype = \"graphile_worker\"\nmax_waiting = -1\n");
    assert!(told.contains("give a whole number from 0 to 2147483647"), "{told}");
}

#[test]
fn our_own_schema_is_no_queues() {
    assert_eq!(
        problems("[queues.main]\ntype = \"graphile_worker\"\nschema = \"fairgate\"\n"),
        "f.toml:3:10: queues.main.schema: is fairgate's own schema; name the one that holds the queue's tables"
    );
}

#[test]
fn a_huge_value_is_cut_where_it_is_shown() {
    let told = problems(&format!("[engine]\npooled = \"{}\"\n{QUEUE}", "x".repeat(100_000)));
    assert!(told.len() < 250 && told.contains("xxx…\"; give true or false"), "{told}");
}
