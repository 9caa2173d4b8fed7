//! The recorded walk over GitHub's public events: who owns what, and which policy it goes to.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::rules::Route;

const PAGES: [&str; 10] = [
    include_str!("../../fixtures/events-walk-2019/page-01.json"),
    include_str!("../../fixtures/events-walk-2019/page-02.json"),
    include_str!("../../fixtures/events-walk-2019/page-03.json"),
    include_str!("../../fixtures/events-walk-2019/page-04.json"),
    include_str!("../../fixtures/events-walk-2019/page-05.json"),
    include_str!("../../fixtures/events-walk-2019/page-06.json"),
    include_str!("../../fixtures/events-walk-2019/page-07.json"),
    include_str!("../../fixtures/events-walk-2019/page-08.json"),
    include_str!("../../fixtures/events-walk-2019/page-09.json"),
    include_str!("../../fixtures/events-walk-2019/page-10.json"),
];

/// An event as a delivery to the owner of its repository.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) owner: String,
    pub(super) route: Route,
    /// The event as recorded, byte for byte.
    pub(super) json: &'static str,
}

/// The walk: the events that were new on each page, and their owners.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    pub(super) pages: Vec<Vec<Event>>,
    /// Every owner, the busiest first; equally busy ones in the order of their first event.
    pub(super) owners: Vec<String>,
    /// Rows on all pages, events that came on several of them included.
    pub(super) rows: usize,
}

#[derive(Deserialize)]
struct Recorded {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    repo: Repository,
}

#[derive(Deserialize)]
struct Repository {
    name: String,
}

/// The owner of the repository that an event is about.
pub(super) fn owner(event: &[u8]) -> Option<String> {
    let event: Recorded = serde_json::from_slice(event).ok()?;
    Some(owner_of(&event.repo.name).to_owned())
}

fn owner_of(repository: &str) -> &str {
    repository.split_once('/').map_or(repository, |(owner, _)| owner)
}

impl Walk {
    pub(super) fn recorded() -> Self {
        const SOUND: &str = "the recorded pages hold GitHub's events, as a test shows";
        let mut seen = HashSet::new();
        let mut owners: Vec<(String, usize)> = Vec::new();
        let mut rows = 0;
        let mut pages = Vec::new();
        for page in PAGES {
            let mut fresh = Vec::new();
            for row in serde_json::from_str::<Vec<&'static RawValue>>(page).expect(SOUND) {
                let event: Recorded = serde_json::from_str(row.get()).expect(SOUND);
                rows += 1;
                if !seen.insert(event.id) {
                    continue;
                }
                let owner = owner_of(&event.repo.name).to_owned();
                match owners.iter_mut().find(|(name, _)| *name == owner) {
                    Some((_, count)) => *count += 1,
                    None => owners.push((owner.clone(), 1)),
                }
                fresh.push(Event { owner, route: Route::of(&event.kind), json: row.get() });
            }
            pages.push(fresh);
        }
        owners.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self { pages, owners: owners.into_iter().map(|(name, _)| name).collect(), rows }
    }

    /// Every distinct event.
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.pages.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_has_155_events_of_124_owners_in_281_rows() {
        let walk = Walk::recorded();
        assert_eq!((walk.rows, walk.events().count(), walk.owners.len()), (281, 155, 124));
    }

    #[test]
    fn the_busiest_owner_has_11_events_and_feeds_every_policy() {
        let walk = Walk::recorded();
        let routes: Vec<Route> =
            walk.events().filter(|e| e.owner == walk.owners[0]).map(|e| e.route).collect();
        assert_eq!(routes.len(), 11);
        for route in Route::ALL {
            assert!(routes.contains(&route), "{} has none", route.policy());
        }
    }

    #[test]
    fn an_event_names_its_owner() {
        let walk = Walk::recorded();
        assert!(walk.events().all(|event| owner(event.json.as_bytes()).as_ref() == Some(&event.owner)));
    }
}
