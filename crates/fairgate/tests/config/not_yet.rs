//! What later releases bring is refused until then.

use crate::{QUEUE, policy_problems, problems};

#[test]
fn keys_of_later_releases_are_refused_as_not_available_yet() {
    let refused = |keys: &str| policy_problems(keys);
    assert_eq!(
        refused("max_pending = 5"),
        "f.toml:6:1: policies.p.max_pending: max_pending is not available yet; remove it"
    );
    assert_eq!(
        refused("dedupe = { until = \"finished\" }"),
        "f.toml:6:1: policies.p.dedupe: dedupe is not available yet; remove it"
    );
    assert_eq!(
        refused("retry = \"restage\""),
        "f.toml:6:9: policies.p.retry: retry = \"restage\" is not available yet; use \"bypass\", or leave it out"
    );
    for value in ["0", "200", "\"many\""] {
        assert_eq!(
            problems(&format!("{QUEUE}max_waiting = {value}")),
            "f.toml:3:1: queues.main.max_waiting: max_waiting is not available yet; remove it"
        );
    }
    for kind in ["apalis", "pgmq", "pg_boss", "procrastinate", "underway", "table"] {
        let expected = format!(
            "f.toml:2:8: queues.q.type: queues of type \"{kind}\" are not available yet; available: graphile_worker"
        );
        assert_eq!(problems(&format!("[queues.q]\ntype = \"{kind}\"\ntable = \"x\"")), expected);
    }
}
