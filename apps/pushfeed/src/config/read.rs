//! The environment's names, and what may stand in them.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::{Config, Mode};
use crate::github::live::Token;
use crate::plan;

/// Every name with its default and its meaning; an empty default: none.
pub const NAMES: [(&str, &str, &str); 23] = [
    ("DATABASE_URL", "", "the database, as in postgres://user:password@host:5432/database"),
    ("GITHUB_MODE", "live", "live, or fixture: files answer in GitHub's place"),
    ("GITHUB_FIXTURE_SCENARIO", "default", "which answers the files give"),
    ("GITHUB_FIXTURE_DIR", "", "a folder of scenarios, instead of those that are compiled in"),
    ("GITHUB_TOKEN", "", "raises the limit, which its headers then tell; a 304 is free with it"),
    (
        "GITHUB_CONNECT_TO",
        "",
        "a loopback address that plays GitHub over plain HTTP, for tests; no token goes there",
    ),
    ("POLL_INTERVAL_SECONDS", "300", "from the end of one poll to the next"),
    ("MAX_PAGES_PER_POLL", "1", "pages of a hundred events"),
    ("RATE_LIMIT_RESERVE", "8", "requests of an hour that are never spent"),
    ("ACTOR_ENRICHMENT_SHARE", "0.5", "the actors' part of the enrichment budget, from 0 to 1"),
    (
        "ENRICHMENT_ELIGIBILITY_WINDOW_SECONDS",
        "3600",
        "how long after it was last seen something may be enriched",
    ),
    ("SEARCH_BATCH_SIZE", "0", "actors or repositories that one search asks for, up to 10; 0: no searches"),
    ("ACTOR_REFRESH_TTL_SECONDS", "86400", "how long an actor's document is fresh"),
    ("REPOSITORY_REFRESH_TTL_SECONDS", "86400", "how long a repository's document is fresh"),
    ("ENRICHMENT_COVERAGE_WINDOW_SECONDS", "86400", "over how long the coverage is computed"),
    ("HTTP_OPEN_TIMEOUT_SECONDS", "5", "to open a connection"),
    ("HTTP_READ_TIMEOUT_SECONDS", "15", "to read an answer"),
    ("MAX_HTTP_RETRIES", "2", "more attempts after a failure, each of the budget"),
    ("MAX_REDIRECTS", "2", "redirects that are followed, each of the budget"),
    ("SOURCE_LOCK_WAIT_SECONDS", "30", "how long `ingest` waits for another poller"),
    ("REQUEST_GATE_WAIT_SECONDS", "30", "how long a request waits for another one that is on its way"),
    ("LOG_LEVEL", "info", "error, warn, info, debug, trace, or directives as in info,sqlx=warn"),
    ("HTTP_BIND", "127.0.0.1:8485", "where `run` serves its pages"),
];

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its name.
    pub name: &'static str,
    /// What is wrong and what to do.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.what)
    }
}

/// Sources that are polled.
const SOURCES: u32 = 1;

struct Reader<'g> {
    get: &'g dyn Fn(&str) -> Option<String>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, name: &'static str, what: impl fmt::Display) {
        self.problems.push(Problem { name, what: what.to_string() });
    }

    /// What is set; set to nothing is not set.
    fn given(&self, name: &'static str) -> Option<String> {
        (self.get)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn text(&self, name: &'static str) -> String {
        let default = NAMES.iter().find(|(its, _, _)| *its == name).map_or("", |(_, default, _)| default);
        self.given(name).unwrap_or_else(|| default.to_owned())
    }

    fn parsed<T: FromStr<Err: fmt::Display>>(&mut self, name: &'static str) -> Option<T> {
        let text = self.text(name);
        let parsed = text.parse();
        parsed.map_err(|error| self.problem(name, format!("{text:?} cannot be used: {error}"))).ok()
    }

    fn number(&mut self, name: &'static str, least: u32, most: u32) -> u32 {
        let Some(number) = self.parsed::<u32>(name) else { return least };
        if !(least..=most).contains(&number) {
            self.problem(name, format!("{number} is out of range; it may be {least} to {most}"));
        }
        number.clamp(least, most)
    }

    fn seconds(&mut self, name: &'static str, least: u32, most: u32) -> Duration {
        Duration::from_secs(self.number(name, least, most).into())
    }

    fn mode(&mut self) -> Mode {
        let instead = self.given("GITHUB_CONNECT_TO").and_then(|text| match text.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Some(address),
            _ => {
                self.problem(
                    "GITHUB_CONNECT_TO",
                    format!(
                        "{text:?} is not a loopback address with a port; it is for tests on this machine"
                    ),
                );
                None
            }
        });
        match self.text("GITHUB_MODE").as_str() {
            "live" => Mode::Live { instead },
            "fixture" => Mode::Fixture {
                scenario: self.text("GITHUB_FIXTURE_SCENARIO"),
                folder: self.given("GITHUB_FIXTURE_DIR").map(PathBuf::from),
            },
            other => {
                self.problem("GITHUB_MODE", format!("{other:?} is neither live nor fixture"));
                Mode::Live { instead }
            }
        }
    }
}

pub(super) fn read(get: &dyn Fn(&str) -> Option<String>) -> Result<Config, Vec<Problem>> {
    const DAY: u32 = 86_400;
    let mut reader = Reader { get, problems: Vec::new() };
    let r = &mut reader;
    let mode = r.mode();
    let token = r.given("GITHUB_TOKEN").map(Token::new).filter(|_| matches!(mode, Mode::Live { .. }));
    let (cadence, pages) =
        (r.seconds("POLL_INTERVAL_SECONDS", 1, DAY), r.number("MAX_PAGES_PER_POLL", 1, 100));
    let reserve = r.number("RATE_LIMIT_RESERVE", 0, 100_000);
    let share = r.parsed("ACTOR_ENRICHMENT_SHARE");
    let plan = share.and_then(|share| {
        let plan = plan::github(token.is_some(), reserve, cadence, pages, SOURCES, share);
        plan.map_err(|error| {
            r.problem(
                "RATE_LIMIT_RESERVE",
                format!("{error} (POLL_INTERVAL_SECONDS and MAX_PAGES_PER_POLL say how much polls take)"),
            );
        })
        .ok()
    });
    let search_plan = share.and_then(|share| plan::search(token.is_some(), share).ok());
    let database_url = r.text("DATABASE_URL");
    if database_url.is_empty() {
        r.problem(
            "DATABASE_URL",
            "no database is named; set it to postgres://user:password@host:5432/database",
        );
    }
    let log = r.text("LOG_LEVEL");
    let level = |directive: &str| directive.contains('=') || directive.parse::<tracing::Level>().is_ok();
    if log.parse::<tracing_subscriber::filter::Targets>().is_err() || !log.split(',').all(level) {
        r.problem(
            "LOG_LEVEL",
            format!(
                "{log:?} cannot be used; write error, warn, info, debug or trace, or as in info,sqlx=warn"
            ),
        );
    }
    let bind = r.parsed("HTTP_BIND");
    let plans = plan.zip(search_plan);
    let config = share.zip(plans).zip(bind).map(|((actor_share, (plan, search_plan)), bind)| Config {
        mode,
        token,
        cadence,
        pages,
        reserve,
        actor_share,
        eligible_for: r.seconds("ENRICHMENT_ELIGIBILITY_WINDOW_SECONDS", 1, 365 * DAY),
        actor_ttl: r.seconds("ACTOR_REFRESH_TTL_SECONDS", 1, 365 * DAY),
        repository_ttl: r.seconds("REPOSITORY_REFRESH_TTL_SECONDS", 1, 365 * DAY),
        coverage_over: r.seconds("ENRICHMENT_COVERAGE_WINDOW_SECONDS", 1, 365 * DAY),
        open_within: r.seconds("HTTP_OPEN_TIMEOUT_SECONDS", 1, 600),
        read_within: r.seconds("HTTP_READ_TIMEOUT_SECONDS", 1, 600),
        retries: r.number("MAX_HTTP_RETRIES", 0, 10),
        redirects: r.number("MAX_REDIRECTS", 0, 10),
        source_wait: r.seconds("SOURCE_LOCK_WAIT_SECONDS", 0, 3600),
        gate_wait: r.seconds("REQUEST_GATE_WAIT_SECONDS", 0, 600),
        log,
        database_url,
        search_batch: r.number("SEARCH_BATCH_SIZE", 0, 10),
        bind,
        plan,
        search_plan,
    });
    match config {
        Some(config) if reader.problems.is_empty() => Ok(config),
        _ => Err(reader.problems),
    }
}
