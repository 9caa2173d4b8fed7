//! The mistakes that each section can have.

use fairgate::config::Config;

use crate::{POLICY, QUEUE, gate_problems, problems};

#[test]
fn a_file_without_queues_is_refused() {
    let expected = "there is no queue to hand jobs to; add one, for example [queues.main] with type = \"graphile_worker\"";
    assert_eq!(problems(""), format!("f.toml:1:1: queues: {expected}"));
    assert_eq!(problems("\n[queues]\n"), format!("f.toml:2:1: queues: {expected}"));
    assert_eq!(problems(POLICY), format!("f.toml:1:1: queues: {expected}"));
}

#[test]
fn queue_mistakes_name_what_is_known() {
    assert_eq!(
        problems("[queues.q]\nschema = \"a.b\"\n[queues.\"a b\"]\ntype = \"graphile_workers\"\n[queues.r]\ntype = \"kafka\""),
        "\
f.toml:1:1: queues.q.type: it is missing; set it, for example type = \"graphile_worker\"
f.toml:2:10: queues.q.schema: the name \"a.b\" has the character '.'; letters, digits, _, - and $ are taken
f.toml:3:9: queues.\"a b\": a queue name is made of A-Z, a-z, 0-9, `_`, `.` and `-`; \"a b\" contains ' '
f.toml:4:8: queues.\"a b\".type: there is no queue type \"graphile_workers\"; did you mean \"graphile_worker\"?
f.toml:6:8: queues.r.type: there is no queue type \"kafka\"; known: graphile_worker, apalis, pgmq, pg_boss, procrastinate, underway, table"
    );
}

#[test]
fn a_policy_reports_its_name_its_templates_and_its_limits() {
    let text = format!(
        "{QUEUE}[policies.\"my policy\"]\npartition_by = \"a..b\"\nshard_by = \"x:{{\"\nadmission_batch_size = 0\n\
         fairness_half_life = \"0s\"\nretry = 3\n"
    );
    assert_eq!(
        problems(&text),
        "\
f.toml:3:1: policies.\"my policy\".queue: it is missing; set it, for example queue = \"main\"
f.toml:3:11: policies.\"my policy\": a policy name is made of A-Z, a-z, 0-9, `_`, `.` and `-`; \"my policy\" contains ' '
f.toml:4:16: policies.\"my policy\".partition_by: the context path \"a..b\" has an empty segment; write one such as account.id
f.toml:5:12: policies.\"my policy\".shard_by: \"x:{\" has a `{` at byte 2 that is never closed; write `{{` for a brace itself
f.toml:6:24: policies.\"my policy\".admission_batch_size: it is 0, which would admit nothing; set at least 1, or leave it out
f.toml:7:22: policies.\"my policy\".fairness_half_life: 0s is too short; the shortest is 1ms
f.toml:8:9: policies.\"my policy\".retry: is the number 3; give \"restage\" or \"bypass\""
    );
}

#[test]
fn a_gate_reports_its_type_its_name_and_its_numbers() {
    assert_eq!(
        gate_problems("max = 1"),
        "f.toml:6:1: policies.p.gates[0].type: it is missing; set it, for example type = \"concurrency\""
    );
    assert_eq!(
        gate_problems("type = \"concurency\"\nmax = 1"),
        "f.toml:7:8: policies.p.gates[0].type: there is no gate type \"concurency\"; did you mean \"concurrency\"?"
    );
    assert_eq!(
        gate_problems("type = \"throttle\"\nname = \"3\"\nmax = 4\nburst = 0.5\nrate = { default = 5 }"),
        "\
f.toml:6:1: policies.p.gates[0].per: it is missing; set it, for example per = \"1m\"
f.toml:8:8: policies.p.gates[0].name: a gate name must start with a letter or `_`, \"3\" starts with '3'
f.toml:9:1: policies.p.gates[0].max: unknown key \"max\"; the keys here are type, name, rate, per, burst, scope, shadow
f.toml:10:9: policies.p.gates[0].burst: 0.5 is too small; the least is 1
f.toml:11:8: policies.p.gates[0].rate.from: it is missing; set it, for example from = \"rate_limit\""
    );
    assert_eq!(
        gate_problems("type = \"concurrency\"\nname = \"a.b\"\nmax = { from = \"x.\", default = -5 }"),
        "\
f.toml:9:16: policies.p.gates[0].max.from: the context path \"x.\" has an empty segment; write one such as account.id
f.toml:9:32: policies.p.gates[0].max.default: -5 is too small; the least is 0"
    );
}

#[test]
fn gates_of_one_type_need_names() {
    let gate = "type = \"throttle\"\nrate = 1\nper = \"1s\"\n";
    assert_eq!(
        gate_problems(&format!("{gate}[[policies.p.gates]]\n{gate}")),
        "f.toml:10:1: policies.p.gates[1].name: policies.p.gates[0] is called \"throttle\" too; give each gate a `name` of its own"
    );
    let named =
        format!("{QUEUE}{POLICY}[[policies.p.gates]]\n{gate}[[policies.p.gates]]\nname = \"slow\"\n{gate}");
    assert_eq!(Config::parse(&named, "f.toml").unwrap().policies[0].gates().len(), 2);
}

#[test]
fn a_revision_is_a_number_from_one() {
    assert_eq!(
        problems(&format!("revision = 0\n{QUEUE}")),
        "f.toml:1:12: revision: is 0; revisions count from 1"
    );
    assert_eq!(
        problems(&format!("revision = \"7\"\n{QUEUE}")),
        "f.toml:1:12: revision: is the text \"7\"; give a whole number from 1 to 2147483647"
    );
}
