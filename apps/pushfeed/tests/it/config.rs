//! Settings, and `.env.example`.

use std::collections::BTreeMap;

use pushfeed::Config;
use pushfeed::config::{NAMES, Problem};

const EXAMPLE: &str = include_str!("../../.env.example");

fn read(settings: &[(&str, &str)]) -> Result<Config, Vec<Problem>> {
    let all: BTreeMap<&str, &str> =
        [("DATABASE_URL", "postgres://localhost/x")].into_iter().chain(settings.iter().copied()).collect();
    Config::read(|name| all.get(name).map(|value| (*value).to_owned()))
}

#[test]
fn the_example_names_every_setting_with_its_default_and_the_parser_takes_it() {
    let lines = EXAMPLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let written: Vec<(&str, &str)> = lines.map(|line| line.split_once('=').unwrap()).collect();
    for ((name, default, _), (its, value)) in NAMES.iter().zip(&written) {
        assert_eq!(name, its);
        assert!(default == value || *name == "DATABASE_URL", "{name}: {default} is not {value}");
    }
    assert_eq!(NAMES.len(), written.len());
    let with_example = read(&written).unwrap();
    let without = read(&[written[0]]).unwrap();
    assert_eq!(format!("{with_example:?}"), format!("{without:?}"));
}

#[test]
fn the_help_names_every_setting_with_its_default() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_pushfeed")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for (name, default, meaning) in NAMES {
        assert!(help.contains(name) && help.contains(meaning), "{name} is not in:\n{help}");
        assert!(default.is_empty() || help.contains(&format!("{name} [default: {default}]")), "{name}");
    }
}

#[test]
fn statement_44_searches_are_off_until_they_are_asked_for_and_ten_is_the_most() {
    assert_eq!(read(&[]).unwrap().search_batch, 0);
    assert_eq!(read(&[("SEARCH_BATCH_SIZE", "10")]).unwrap().search_batch, 10);
    assert_eq!(read(&[("SEARCH_BATCH_SIZE", "11")]).unwrap_err()[0].name, "SEARCH_BATCH_SIZE");
    let plan = |settings: &[(&str, &str)]| read(settings).unwrap().search_plan;
    assert_eq!((plan(&[]).limit(), plan(&[("GITHUB_TOKEN", "x")]).limit(), plan(&[]).reserve()), (10, 30, 0));
}

#[test]
fn statement_16_the_plan_follows_cadence_pages_and_reserve() {
    let numbers = |settings: &[(&str, &str)]| {
        let plan = read(settings).unwrap().plan;
        let (poll, actor) =
            (pushfeed::plan::poll_lane(&plan), pushfeed::plan::lane(&plan, pushfeed::enrich::Kind::Actor));
        (plan.allowance(poll, 60), plan.allowance(actor, 60), plan.guarantee(actor, 60))
    };
    assert_eq!(numbers(&[]), (12, 40, 20));
    assert_eq!(numbers(&[("MAX_PAGES_PER_POLL", "3")]), (36, 16, 8));
    assert_eq!(numbers(&[("POLL_INTERVAL_SECONDS", "301")]), (12, 40, 20));
    assert_eq!(numbers(&[("POLL_INTERVAL_SECONDS", "299")]), (13, 39, 19));
    assert_eq!(numbers(&[("ACTOR_ENRICHMENT_SHARE", "0.29")]).2, 11);
    assert_eq!(numbers(&[("ACTOR_ENRICHMENT_SHARE", "1")]).2, 40);
    let problems = read(&[("POLL_INTERVAL_SECONDS", "60")]).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].to_string().contains("(60) and the reserve (8) leave nothing of the limit (60)"),
        "{}",
        problems[0]
    );
}

#[test]
fn every_problem_is_named_at_once() {
    let problems = read(&[
        ("GITHUB_MODE", "offline"),
        ("MAX_PAGES_PER_POLL", "0"),
        ("ACTOR_ENRICHMENT_SHARE", "1.5"),
        ("HTTP_BIND", "8485"),
        ("DATABASE_URL", ""),
        ("GITHUB_CONNECT_TO", "192.0.2.1:80"),
        ("LOG_LEVEL", "loud"),
    ]);
    let names: Vec<&str> = problems.unwrap_err().iter().map(|problem| problem.name).collect();
    let expected = [
        "GITHUB_CONNECT_TO",
        "GITHUB_MODE",
        "MAX_PAGES_PER_POLL",
        "ACTOR_ENRICHMENT_SHARE",
        "DATABASE_URL",
        "LOG_LEVEL",
        "HTTP_BIND",
    ];
    assert_eq!(names, expected);
}

#[test]
fn statement_26_a_token_raises_the_limit_and_is_never_printed() {
    let config = read(&[("GITHUB_TOKEN", "ghp_secret")]).unwrap();
    assert_eq!(config.plan.limit(), 5000);
    assert!(!format!("{config:?}").contains("ghp_secret"));
}

#[test]
fn the_containers_settings_are_known_to_the_parser() {
    let compose = include_str!("../../../../compose.yaml");
    let ours = compose.lines().skip_while(|line| !line.contains("environment: &environment")).skip(1);
    let names: Vec<&str> = ours
        .take_while(|line| line.starts_with("    "))
        .map(|line| line.trim().split_once(':').unwrap().0)
        .collect();
    assert_eq!(names.len(), 5);
    for name in names {
        assert!(NAMES.iter().any(|(known, _, _)| *known == name), "{name}");
    }
}
