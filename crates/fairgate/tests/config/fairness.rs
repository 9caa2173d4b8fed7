//! How a policy's partitions share.

use fairgate::config::Config;
use fairgate_core::definition::{FairnessDefinition, ParamDefinition};
use fairgate_core::fairness::weighted::Cost;

use crate::{POLICY, QUEUE, policy_problems};

fn fairness(keys: &str) -> FairnessDefinition {
    let config = Config::parse(&format!("{QUEUE}{POLICY}{keys}"), "f.toml").expect("the keys are right");
    config.policies[0].definition().fairness
}

#[test]
fn fairness_is_a_word_or_a_table() {
    for recent in ["", "fairness = \"recent\"", "fairness = { mode = \"recent\" }"] {
        assert_eq!(fairness(recent), FairnessDefinition::Recent);
    }
    for weighted in ["fairness = \"weighted\"", "fairness = { mode = \"weighted\", cost = \"jobs\" }"] {
        assert_eq!(fairness(weighted), FairnessDefinition::weighted());
    }
    let keys = "fairness = { mode = \"weighted\", cost = \"time\", weight = { from = \"plan.weight\", default = 2 } }";
    let weight = ParamDefinition::From { path: "plan.weight".parse().unwrap(), default: Some(2.0) };
    assert_eq!(fairness(keys), FairnessDefinition::Weighted { cost: Cost::Time, weight });
    let weight = ParamDefinition::Fixed(3.0);
    let keys = "fairness = { mode = \"weighted\", weight = 3 }";
    assert_eq!(fairness(keys), FairnessDefinition::Weighted { cost: Cost::Jobs, weight });
}

#[test]
fn what_is_wrong_with_fairness_is_named_at_its_place() {
    let wanted = "\"recent\", \"weighted\" or a table such as { mode = \"weighted\", cost = \"time\" }";
    for (value, problem) in [
        (
            "\"wieghted\"",
            "12: policies.p.fairness: there is no mode \"wieghted\"; did you mean \"weighted\"?",
        ),
        ("5", &format!("12: policies.p.fairness: is the number 5; give {wanted}")),
        (
            "{ cost = \"time\" }",
            "12: policies.p.fairness.mode: it is missing; set it, for example mode = \"weighted\"",
        ),
        (
            "{ mode = \"recent\", cost = \"time\" }",
            "31: policies.p.fairness.cost: counts in mode \"weighted\" only; remove it",
        ),
        (
            "{ mode = \"weighted\", cost = \"money\" }",
            "40: policies.p.fairness.cost: there is no cost \"money\"; known: jobs, time",
        ),
        (
            "{ mode = \"weighted\", weigth = 1 }",
            "33: policies.p.fairness.weigth: unknown key \"weigth\"; did you mean \"weight\"?",
        ),
        (
            "{ mode = \"weighted\", weight = -1 }",
            "42: policies.p.fairness.weight: -1 is too small a weight; the least is 0.000001",
        ),
        (
            "{ mode = \"weighted\", weight = { from = \"w\", default = 0 } }",
            "66: policies.p.fairness.weight.default: 0 is too small a weight; the least is 0.000001",
        ),
    ] {
        assert_eq!(policy_problems(&format!("fairness = {value}")), format!("f.toml:6:{problem}"));
    }
}
