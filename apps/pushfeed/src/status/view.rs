//! Status as text.

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};

use super::Status;
use crate::enrich::summary::Next;

/// One `Label: value` a line.
#[must_use]
pub fn block(lines: &[(&str, String)]) -> String {
    lines.iter().fold(String::new(), |mut text, (label, value)| {
        let _ = writeln!(text, "{label}: {value}");
        text
    })
}

/// A time in UTC, to the second.
#[must_use]
pub fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// When something is due.
#[must_use]
pub fn next(next: &Next) -> String {
    match next {
        Next::Now => "now".to_owned(),
        Next::At(at) => instant(*at),
        Next::AfterThePoll => "after the next poll (window_uninitialized)".to_owned(),
        Next::Never => "none".to_owned(),
    }
}

impl Status {
    /// When the next poll is due.
    #[must_use]
    pub fn next_poll(&self) -> String {
        match (&self.source.out_of_service, self.next_poll_due) {
            (Some(why), _) => format!("never, out of service: {why}"),
            (None, Some(due)) => instant(due),
            (None, None) => "now".to_owned(),
        }
    }

    /// What is left of the window.
    #[must_use]
    pub fn remaining(&self) -> String {
        self.budget.remaining.map_or_else(|| "unknown".to_owned(), |remaining| remaining.to_string())
    }

    /// The block of everything.
    #[must_use]
    pub fn block(&self) -> String {
        match (self.budget.blocked_until, self.budget.block_reason) {
            (Some(until), Some(reason)) => format!("until {} ({reason})", instant(until)),
            _ => "none".to_owned(),
        }
    }

    /// The lines of `status`.
    #[must_use]
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let budget = &self.budget;
        let known =
            |number: Option<u32>| number.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        let time = |at: Option<DateTime<Utc>>, none: &str| at.map_or_else(|| none.to_owned(), instant);
        let enabled = if self.source.enabled { "enabled" } else { "out of service" };
        let mut lines = vec![
            ("Source", format!("{}, {enabled}", self.source.state)),
            ("Latest successful run", time(self.source.latest_successful_run, "none")),
            ("Next poll due", self.next_poll()),
            ("Cadence until", time(self.schedule.cadence, "none")),
            ("Poll floor until", time(self.schedule.floor, "none")),
            ("Source back-off until", time(self.schedule.backoff, "none")),
            ("Poll budget block until", time(self.schedule.poll_block, "none")),
            ("Budget limit (core)", known(budget.limit)),
            ("Budget remaining (core)", self.remaining()),
            ("Budget reset (core)", time(budget.reset_at, "unknown")),
            ("Global block", self.block()),
            ("Poll requests used", budget.poll.to_string()),
            ("Enrichment requests used", budget.enrichment.to_string()),
            ("Actor requests used", budget.actor.to_string()),
            ("Repository requests used", budget.repository.to_string()),
            ("Persisted push events", self.events.persisted.to_string()),
            ("Quarantined events", self.events.quarantined.to_string()),
        ];
        for (labels, entities) in [(ACTORS, &self.actors), (REPOSITORIES, &self.repositories)] {
            lines.push((labels[0], entities.states()));
            lines.push((
                labels[1],
                format!("{} / {}", entities.retryable_failure, entities.permanent_failure),
            ));
            let coverage = entities
                .coverage
                .map_or_else(|| "unknown".to_owned(), |part| format!("{:.1}%", part * 100.0));
            lines.push((labels[2], format!("{coverage} ({} of {})", entities.covered, entities.seen)));
            lines.push((labels[3], entities.keeping_up.clone()));
        }
        if let Some(search) = &self.search {
            lines.push(("Budget remaining (search)", known(search.remaining)));
            lines.push(("Budget reset (search)", time(search.reset_at, "unknown")));
            lines.push(("Searches used", search.used.to_string()));
        }
        lines.push(("Next enrichment", next(&self.next_enrichment)));
        lines
    }
}

const ACTORS: [&str; 4] = [
    "Actors pending/complete/skipped",
    "Actors failed for now/for good",
    "Actor coverage",
    "Actors keeping up",
];
const REPOSITORIES: [&str; 4] =
    ["Repos pending/complete/skipped", "Repos failed for now/for good", "Repo coverage", "Repos keeping up"];

impl super::Entities {
    /// Pending, complete and skipped.
    #[must_use]
    pub fn states(&self) -> String {
        format!("{}/{}/{}", self.pending, self.complete, self.skipped_budget)
    }
}

impl std::fmt::Display for super::Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.used, self.of)
    }
}
