//! What later releases bring is refused until then.

use crate::{QUEUE, policy_problems, problems};

#[test]
fn keys_of_later_releases_are_refused_as_not_available_yet() {
    let refused = |keys: &str| policy_problems(keys);
    assert_eq!(
        refused("fairness = \"weighted\""),
        "f.toml:6:12: policies.p.fairness: fairness = \"weighted\" is not available yet; use \"recent\", or leave it out"
    );
    assert_eq!(
        refused("fairness = { mode = \"weighted\" }"),
        "f.toml:6:12: policies.p.fairness: a table is not available yet; use \"recent\", or leave it out"
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
