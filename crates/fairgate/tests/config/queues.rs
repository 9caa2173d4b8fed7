//! Types of queues, their own keys, and what a policy may ask of them.

use fairgate::config::Config;
use fairgate::queue::{KINDS, adapter};

use crate::problems;

const TABLE: &str = "[queues.q]\ntype = \"table\"\ntable = \"jobs\"\ncolumns = { args = \"payload\" }\n";

fn notes(text: &str) -> Vec<String> {
    Config::parse(text, "f.toml").expect("it is right").notes
}

#[test]
fn every_type_needs_its_type_alone_but_for_table() {
    for kind in KINDS.iter().filter(|kind| **kind != "table") {
        let text =
            format!("[queues.q]\ntype = \"{kind}\"\n[policies.p]\nqueue = \"q\"\npartition_by = \"a\"\n");
        let config = Config::parse(&text, "f.toml").expect("it is right");
        let queue = &config.queues[0];
        assert!(adapter(&queue.kind, queue.schema.as_deref(), &queue.settings).is_ok(), "{kind}");
    }
    assert_eq!(
        problems("[queues.q]\ntype = \"table\"\n"),
        "\
f.toml:1:1: queues.q.table: it is missing; set it, for example table = \"river_job\"
f.toml:1:1: queues.q.columns: it is missing; set it, for example columns = { payload = \"payload\" }"
    );
}

#[test]
fn the_documented_configurations_of_tables_are_right_and_come_back_from_the_database_as_they_went() {
    for file in ["river", "oban", "good_job", "solid_queue"] {
        let path = format!("{}/../../docs/queues/{file}.toml", env!("CARGO_MANIFEST_DIR"));
        let config = Config::parse(&std::fs::read_to_string(path).unwrap(), file).expect("it is right");
        let queue = &config.queues[0];
        let there = adapter(&queue.kind, queue.schema.as_deref(), &queue.settings).expect("an adapter");
        assert_eq!(there.settings(), queue.settings);
        let back = adapter("table", Some("public"), &there.settings()).expect("an adapter");
        assert_eq!((back.enqueue(), back.hooks()), (there.enqueue(), there.hooks()));
    }
}

#[test]
fn keys_of_a_table_are_no_keys_of_another_type_and_near_ones_are_named() {
    assert_eq!(
        problems("[queues.q]\ntype = \"pgmq\"\ntable = \"x\"\nschma = \"y\"\n"),
        "\
f.toml:3:1: queues.q.table: unknown key \"table\"; the keys here are type, schema, max_waiting
f.toml:4:1: queues.q.schma: unknown key \"schma\"; did you mean \"schema\"?"
    );
    assert_eq!(
        problems(&format!("{TABLE}startd = \"true\"\nback = {{ payload = \"args\", atempts = \"n\" }}\n")),
        "\
f.toml:5:1: queues.q.startd: unknown key \"startd\"; did you mean \"started\"?
f.toml:6:28: queues.q.back.atempts: unknown key \"atempts\"; did you mean \"attempts\"?"
    );
}

#[test]
fn expressions_and_names_of_a_table_are_checked_where_they_stand() {
    let text = "[queues.q]\ntype = \"table\"\ntable = \"a b\"\ncolumns = { \"x\\\"y\" = \"1\", z = \"(1\" }\nstarted = \"a; DROP TABLE b\"\n\
                dead = \"'open\"\nid_from = \"serial\"\npriorities = [3, 0]\nfailed = \"true\"\nsucceeded = \"a -- b\"\n\
                [[queues.q.signs]]\ntable = \"t\"\njob = \"job_id\"\n";
    assert_eq!(
        problems(text),
        "\
f.toml:3:9: queues.q.table: the name \"a b\" has the character ' '; letters, digits, _, - and $ are taken
f.toml:4:13: queues.q.columns.\"x\\\"y\": the name \"x\"y\" has the character '\"'; letters, digits, _, - and $ are taken
f.toml:4:31: queues.q.columns.z: the SQL expression \"(1\" cannot be used: a parenthesis is not closed
f.toml:5:11: queues.q.started: the SQL expression \"a; DROP TABLE b\" cannot be used: it has a semicolon
f.toml:6:8: queues.q.dead: the SQL expression \"'open\" cannot be used: a quote is not closed
f.toml:7:11: queues.q.id_from: \"serial\" is not known here; known: sequence, job_id
f.toml:8:14: queues.q.priorities: is an array; give the least and the greatest priority that a job may have, with 0 between them, such as [0, 3]
f.toml:9:10: queues.q.failed: says when an attempt failed, but nothing how to read the job back; add a table back with at least payload
f.toml:10:13: queues.q.succeeded: the SQL expression \"a -- b\" cannot be used: it has a comment
f.toml:11:1: queues.q.signs[0]: say what one of its rows means when it is inserted, or when it is deleted, for example inserted = \"started\""
    );
}

#[test]
fn a_policy_that_needs_what_its_queue_cannot_show_is_refused_and_one_that_leaves_it_open_is_noted() {
    let policy = "[policies.p]\nqueue = \"q\"\npartition_by = \"a\"\n";
    assert_eq!(
        notes(&format!("[queues.q]\ntype = \"pgmq\"\n{policy}")),
        [
            "f.toml:1:1: queues.q: it cannot show when a job has failed or dead: its policies leave retries to it"
        ]
    );
    assert_eq!(
        problems(&format!("[queues.q]\ntype = \"pgmq\"\n{policy}retry = \"restage\"\n")),
        "f.toml:6:9: policies.p.retry: retry = \"restage\" needs to see when a job has failed, which queue \"q\" of type \"pgmq\" cannot show"
    );
    let blind =
        format!("{TABLE}max_waiting = 5\n{policy}fairness = {{ mode = \"weighted\", cost = \"time\" }}\n");
    assert_eq!(
        problems(&blind),
        "\
f.toml:5:15: queues.q.max_waiting: queues of type \"table\" cannot show when a job has started; remove it
f.toml:9:12: policies.p.fairness: fairness by worker time needs to see when a job has started, which queue \"q\" of type \"table\" cannot show"
    );
    let adaptive = format!(
        "{TABLE}{policy}[[policies.p.gates]]\ntype = \"adaptive_concurrency\"\ninitial_max = 3\ntarget_lag_ms = 100\n"
    );
    assert!(
        problems(&adaptive)
            .contains("policies.p.gates: an adaptive_concurrency gate needs to see when a job has started")
    );
}
