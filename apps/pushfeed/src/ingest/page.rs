//! A page: an array of events, each read by itself.

use std::collections::HashSet;
use std::ops::AddAssign;

use serde_json::value::RawValue;

use super::event::{self, Bad, Event, Push, Shape};

/// A page, read.
#[derive(Debug, Default)]
pub struct Page {
    /// Pushes, with their text as it came, each once.
    pub pushes: Vec<(Push, String)>,
    /// Bad ones, with their text.
    pub bad: Vec<(Bad, String)>,
    /// What it counts so far: what is created and what is a duplicate is known after writing.
    pub counts: Counts,
}

/// What pages brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    /// Pages.
    pub pages: i32,
    /// Events on them.
    pub seen: i32,
    /// New pushes.
    pub created: i32,
    /// Pushes that were there.
    pub duplicates: i32,
    /// Bad events.
    pub quarantined: i32,
    /// Events of other types.
    pub ignored: i32,
    /// Events that the database refused.
    pub failed: i32,
    /// Entities that a new event made eligible again.
    pub reactivated: i32,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.pages += other.pages;
        self.seen += other.seen;
        self.created += other.created;
        self.duplicates += other.duplicates;
        self.quarantined += other.quarantined;
        self.ignored += other.ignored;
        self.failed += other.failed;
        self.reactivated += other.reactivated;
    }
}

/// Reads a body.
///
/// # Errors
/// When it is no array of JSON: then the request failed, and no event is bad.
pub fn read(body: &[u8]) -> Result<Page, String> {
    let elements: Vec<&RawValue> =
        serde_json::from_slice(body).map_err(|error| format!("the body is no JSON array: {error}"))?;
    let mut page = Page { counts: Counts { pages: 1, ..Counts::default() }, ..Page::default() };
    let mut known = HashSet::new();
    for element in elements {
        page.counts.seen += 1;
        let text = element.get();
        match event::read(text, Shape::Live) {
            Event::Push(push) if known.insert((push.github_id, push.created_at)) => {
                page.pushes.push((*push, text.to_owned()));
            }
            Event::Push(_) => page.counts.duplicates += 1,
            Event::Other => page.counts.ignored += 1,
            Event::Bad(bad) => page.bad.push((bad, text.to_owned())),
        }
    }
    Ok(page)
}
