//! What later releases bring is refused until then.

use crate::problems;

#[test]
fn queue_types_of_later_releases_are_refused_as_not_available_yet() {
    for kind in ["apalis", "pgmq", "pg_boss", "procrastinate", "underway", "table"] {
        let expected = format!(
            "f.toml:2:8: queues.q.type: queues of type \"{kind}\" are not available yet; available: graphile_worker"
        );
        assert_eq!(problems(&format!("[queues.q]\ntype = \"{kind}\"\ntable = \"x\"")), expected);
    }
}
