use fairgate_core::definition::{Definition, FairnessDefinition, ParamDefinition};
use fairgate_core::fairness::weighted::Cost;
use fairgate_core::policy::{Fairness, FairnessBuilder, Policy, PolicyBuilder};

fn definition(fairness: &str) -> Result<Definition, String> {
    let text = format!(r#"{{"queue": "q", "partition_by": "a", "fairness": {fairness}}}"#);
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

fn builder() -> PolicyBuilder {
    Policy::builder("p").queue("q").partition_by("a")
}

#[test]
fn recent_is_the_default_and_is_not_stored() {
    let policy = builder().build().unwrap();
    assert!(matches!(policy.fairness(), Fairness::Recent));
    assert!(!serde_json::to_string(&policy.definition()).unwrap().contains("fairness"));
    let written = builder().fairness(FairnessBuilder::recent()).build().unwrap();
    assert_eq!(written.definition(), policy.definition());
    assert_eq!(definition(r#"{"mode": "recent"}"#).unwrap().fairness, FairnessDefinition::Recent);
}

#[test]
fn weighted_alone_counts_jobs_and_reads_the_weight_from_the_context() {
    let short = definition(r#""weighted""#).unwrap();
    let text = serde_json::to_string(&short).unwrap();
    let whole = r#""fairness":{"mode":"weighted","cost":"jobs","weight":{"from":"weight","default":1.0}}"#;
    assert!(text.contains(whole), "{text}");
    assert_eq!(serde_json::from_str::<Definition>(&text).unwrap(), short);
    let built = builder().fairness(FairnessBuilder::weighted()).build().unwrap();
    assert_eq!(built.definition(), short);
}

#[test]
fn the_builder_and_the_table_give_the_same_definition() {
    let table =
        definition(r#"{"mode": "weighted", "cost": "time", "weight": {"from": "plan.weight"}}"#).unwrap();
    let fairness = FairnessBuilder::weighted().cost(Cost::Time).weight_from("plan.weight", None);
    let policy = builder().fairness(fairness).build().unwrap();
    assert_eq!(policy.definition(), table);
    let again = Policy::from_definition("p", table.clone()).unwrap();
    assert_eq!(again.definition(), table);
    assert!(matches!(again.fairness(), Fairness::Weighted { cost: Cost::Time, .. }));
}

#[test]
fn a_computed_weight_is_a_closure_that_another_process_lacks() {
    let policy = builder().fairness(FairnessBuilder::weighted().weight_fn(|_| 2.0)).build().unwrap();
    assert!(policy.has_closures() && !policy.lacks_closures());
    let weight = ParamDefinition::Computed;
    assert_eq!(policy.definition().fairness, FairnessDefinition::Weighted { cost: Cost::Jobs, weight });
    assert!(Policy::from_definition("p", policy.definition()).unwrap().lacks_closures());
}

#[test]
fn a_weight_out_of_range_and_a_wrong_path_are_refused() {
    for (default, problem) in [
        (0.0, "fairness.weight.default: 0 is too small a weight; the least is 0.000001"),
        (-1.0, "fairness.weight.default: -1 is too small a weight; the least is 0.000001"),
        (2e6, "fairness.weight.default: 2000000 is too large a weight; the most is 1000000"),
        (f64::NAN, "fairness.weight.default: NaN is not a finite number"),
    ] {
        let fairness = FairnessBuilder::weighted().weight_from("weight", default);
        assert_eq!(builder().fairness(fairness).build().unwrap_err().to_string(), problem);
    }
    let problems = builder().fairness(FairnessBuilder::weighted().weight_from("", 1.0)).build().unwrap_err();
    assert!(problems.to_string().starts_with("fairness.weight.from: "), "{problems}");
}

#[test]
fn a_wrong_definition_says_what_would_be_right() {
    for (fairness, error) in [
        (r#""fair""#, "there is no fairness \"fair\"; use \"recent\" or \"weighted\""),
        (r#"{"mode": "fair"}"#, "there is no fairness \"fair\"; use \"recent\" or \"weighted\""),
        (r#"{"mode": "weighted", "cost": "money"}"#, "there is no cost \"money\"; use \"jobs\" or \"time\""),
        (
            r#"{"mode": "recent", "cost": "jobs"}"#,
            "mode \"recent\" has neither `cost` nor `weight`; remove them",
        ),
        (r#"{"mode": "weighted", "weigth": 1}"#, "unknown field `weigth`"),
    ] {
        let message = definition(fairness).unwrap_err();
        assert!(message.starts_with(error), "{message}");
    }
}
