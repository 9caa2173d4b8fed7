//! What is taken, and what it becomes.

use std::time::Duration;

use fairgate::Settings;
use fairgate::config::{Config, nearest};
use fairgate_core::definition::{Dedupe, Definition, HalfLife, Retry};

use crate::{POLICY, QUEUE};

#[test]
fn an_empty_engine_section_gives_the_documented_defaults() {
    let config = Config::parse(&format!("[engine]\n{QUEUE}"), "f.toml").unwrap();
    let seconds = Duration::from_secs;
    let documented = Settings {
        partition_batch_size: 50,
        admission_batch_size: 100,
        tick_max_duration: seconds(25),
        idle_pause: Duration::from_millis(500),
        busy_pause: seconds(0),
        sweep_every: seconds(30),
        partition_inactive_after: seconds(24 * 3600),
        inflight_stale_after: seconds(300),
        inflight_queued_stale_after: seconds(3600),
        heartbeat_interval: seconds(30),
        metrics_retention: seconds(24 * 3600),
        fairness_half_life: HalfLife::Of(seconds(60)),
        tick_admission_budget: None,
        throughput_target: None,
        max_forward_attempts: 5,
        pooled: false,
        notifications: true,
    };
    assert_eq!(config.engine, documented);
    assert_eq!(config.revision, None);
}

#[test]
fn the_example_parses_and_its_comments_state_the_defaults() {
    let config = Config::parse(Config::example(), "fairgate.toml").unwrap();
    assert_eq!(config.notes, Vec::<String>::new());
    let gates: Vec<usize> = config.policies.iter().map(|policy| policy.gates().len()).collect();
    assert_eq!(gates, [2, 1, 1, 0]);

    // `# key = value` becomes `key = value`; those that have no default by name are left out.
    let no_default =
        ["tick_admission_budget", "throughput_target", "revision", "shard_by", "max = ", "max_pending"];
    let uncommented: Vec<&str> = (Config::example().lines())
        .map(|line| {
            let key_value =
                line.strip_prefix("# ").filter(|rest| rest.split_whitespace().nth(1) == Some("="));
            let has_default = |rest: &&str| !no_default.iter().any(|key| rest.starts_with(key));
            key_value.filter(has_default).unwrap_or(line)
        })
        .collect();
    let explicit = Config::parse(&uncommented.join("\n"), "fairgate.toml").unwrap();
    assert_eq!(explicit.engine, config.engine);
    assert_eq!(explicit.queues[0].schema.as_deref(), Some("graphile_worker"));
    let without_limits = |definition: Definition| Definition {
        retry: definition.retry.filter(|retry| *retry != Retry::Restage),
        dedupe: definition.dedupe.filter(|dedupe| *dedupe != Dedupe::default()),
        admission_batch_size: None,
        fairness_half_life: None,
        ..definition
    };
    for (explicit, left_out) in explicit.policies.iter().zip(&config.policies) {
        assert_eq!(without_limits(explicit.definition()), left_out.definition());
    }
}

#[test]
fn everything_written_arrives() {
    let text = r#"
revision = 7
[engine]
tick_admission_budget = 200
throughput_target = 500
fairness_half_life = "none"
pooled = true
notifications = false
max_forward_attempts = 3
[queues.main]
type = "graphile_worker"
schema = "jobs"
[policies.zulu]
queue = "main"
partition_by = "acct:{account.id}"
shard_by = "region"
retry = "bypass"
max_pending = 100
dedupe = { until = "admitted", on_conflict = "replace" }
fairness = "recent"
fairness_half_life = "5m"
tick_admission_budget = 9
gates = [{ type = "throttle", rate = 0.5, per = "1h30m", burst = { from = "burst" } }]
[policies.alpha]
queue = "main"
partition_by = "id"
[[policies.alpha.gates]]
type = "concurrency"
name = "cap"
max = { from = "max", default = 2.5 }
full_backoff = "250ms"
scope = "policy"
shadow = true
[[policies.alpha.gates]]
type = "throttle"
rate = 1
per = "1s"
scope = "account.id"
[[policies.alpha.gates]]
type = "adaptive_concurrency"
name = "lag"
initial_max = { from = "start", default = 3 }
target_lag_ms = { from = "lag", default = 250 }
min = 2
max = { from = "most", default = 9 }
ewma_alpha = 0.25
failure_decrease_factor = 0.75
overload_decrease_factor = 0.9
full_backoff = "2s"
every_job = true
shadow = true
"#;
    let config = Config::parse(text, "f.toml").unwrap();
    assert_eq!(config.revision, Some(7));
    assert_eq!(config.engine.fairness_half_life, HalfLife::None);
    assert_eq!(config.engine.throughput_target, Some(500.0));
    assert!(config.engine.pooled && !config.engine.notifications);
    assert_eq!((config.engine.tick_admission_budget, config.engine.max_forward_attempts), (Some(200), 3));
    let queue = &config.queues[0];
    assert_eq!((queue.name.as_str(), queue.kind.as_str()), ("main", "graphile_worker"));
    assert_eq!(queue.schema.as_deref(), Some("jobs"));

    let definitions: Vec<String> = (config.policies.iter())
        .map(|policy| format!("{} {}", policy.name(), serde_json::to_string(&policy.definition()).unwrap()))
        .collect();
    assert_eq!(
        definitions,
        [
            "zulu {\"queue\":\"main\",\"partition_by\":\"acct:{account.id}\",\"shard_by\":\"region\",\"retry\":\"bypass\",\
             \"max_pending\":100,\"dedupe\":{\"until\":\"admitted\",\"on_conflict\":\"replace\"},\
             \"gates\":[{\"type\":\"throttle\",\"name\":\"throttle\",\"rate\":0.5,\"per\":\"1h30m\",\"burst\":{\"from\":\"burst\"}}],\
             \"fairness_half_life\":\"5m\",\"tick_admission_budget\":9}",
            "alpha {\"queue\":\"main\",\"partition_by\":\"id\",\
             \"gates\":[{\"type\":\"concurrency\",\"name\":\"cap\",\"max\":{\"from\":\"max\",\"default\":2.5},\"full_backoff\":\"250ms\",\
             \"scope\":\"policy\",\"shadow\":true},{\"type\":\"throttle\",\"name\":\"throttle\",\"rate\":1.0,\"per\":\"1s\",\"scope\":\"account.id\"},\
             {\"type\":\"adaptive_concurrency\",\"name\":\"lag\",\"initial_max\":{\"from\":\"start\",\"default\":3.0},\
             \"target_lag_ms\":{\"from\":\"lag\",\"default\":250.0},\"min\":2.0,\"max\":{\"from\":\"most\",\"default\":9.0},\
             \"ewma_alpha\":0.25,\"failure_decrease_factor\":0.75,\"overload_decrease_factor\":0.9,\"full_backoff\":\"2s\",\
             \"every_job\":true,\"shadow\":true}]}",
        ]
    );
}

#[test]
fn what_is_allowed_but_odd_is_noted() {
    let text = format!(
        "[engine]\npooled = true\n{QUEUE}[queues.spare]\ntype = \"graphile_worker\"\n{POLICY}[[policies.p.gates]]\n\
         type = \"throttle\"\nrate = {{ from = \"rate\" }}\nper = \"1s\"\n[[policies.p.gates]]\ntype = \"concurrency\"\nmax = 0\n"
    );
    assert_eq!(
        Config::parse(&text, "f.toml").unwrap().notes,
        [
            "f.toml:2:10: engine.pooled: notifications are off, tickers poll; `fairgate migrate` needs a direct URL",
            "f.toml:5:1: queues.spare: no policy uses this queue",
            "f.toml:12:8: policies.p.gates[0].rate: has no default: a job whose context has no number at \"rate\" waits until one has",
            "f.toml:16:7: policies.p.gates[1].max: is 0: nothing is admitted",
        ]
    );
    let none = Config::parse(QUEUE, "f.toml").unwrap().notes;
    assert_eq!(none[0], "f.toml:1:1: policies: there is none, so nothing can be staged");
}

#[test]
fn a_word_that_is_like_none_gets_no_suggestion() {
    let known = ["webhooks", "reports", "emails"];
    assert_eq!(nearest("webhook", known), Some("webhooks"));
    assert_eq!(nearest("eMail", known), Some("emails"));
    assert_eq!(nearest("invoices", known), None);
}
