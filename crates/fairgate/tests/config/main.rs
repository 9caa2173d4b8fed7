//! `fairgate.toml`: what is taken, what is refused, and the exact words of every refusal.

mod accepted;
mod fairness;
mod gates;
mod queues;
mod refused;
mod sections;

use fairgate::config::Config;

const QUEUE: &str = "[queues.main]\ntype = \"graphile_worker\"\n";
const POLICY: &str = "[policies.p]\nqueue = \"main\"\npartition_by = \"account_id\"\n";

/// The problems of a text, one a line.
fn problems(text: &str) -> String {
    Config::parse(text, "f.toml").expect_err("the text should be refused").to_string()
}

/// The problems of a policy that is right but for `keys`; it begins at line 3.
fn policy_problems(keys: &str) -> String {
    problems(&format!("{QUEUE}{POLICY}{keys}"))
}

/// The problems of a gate, which begins at line 6.
fn gate_problems(keys: &str) -> String {
    policy_problems(&format!("[[policies.p.gates]]\n{keys}"))
}
