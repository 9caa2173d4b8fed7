//! What a policy needs to see, held against what its queue can show. Only what is written and impossible is refused; what is left out bends, with a note.

use fairgate_core::definition::{Definition, GateKind, Retry};
use fairgate_core::fairness::weighted::Cost;
use fairgate_core::policy::{Fairness, Policy};

use super::QueueConfig;
use super::findings::Findings;
use super::section::Section;
use crate::queue::{Event, adapter};

pub(super) fn check(
    queues: &Section<'_>,
    configs: &[QueueConfig],
    policies: &[Policy],
    root: &Section<'_>,
    found: &mut Findings<'_>,
) {
    for config in configs {
        let Ok(queue) = adapter(&config.kind, config.schema.as_deref(), &config.settings) else { continue };
        let shows = |event| queue.shows().contains(&event);
        let (path, place) = (config.name.as_str(), queues.place(config.name.as_str()));
        if !shows(Event::Started) && config.max_waiting.is_some_and(|jobs| jobs > 0) {
            let message =
                format!("queues of type \"{}\" cannot show when a job has started; remove it", config.kind);
            found.problem(
                queues.offset_of(&format!("{path}.max_waiting")),
                &format!("{place}.max_waiting"),
                message,
            );
        }
        let hidden: Vec<&str> =
            Event::ALL.iter().filter(|event| !shows(**event)).map(|event| event.as_str()).collect();
        if !hidden.is_empty() {
            let message =
                format!("it cannot show when a job has {}{}", hidden.join(" or "), consequence(&hidden));
            found.note(queues.offset_of(path), &place, message);
        }
        for policy in policies.iter().filter(|policy| policy.queue() == &config.name) {
            for (event, path, what) in needs(policy, &policy.definition()) {
                if !shows(event) {
                    let place = format!("policies.{}.{path}", policy.name());
                    let offset = root.offset_of(&format!("policies.{}.{path}", policy.name()));
                    let message = format!(
                        "{what} needs to see when a job has {}, which queue \"{}\" of type \"{}\" cannot show",
                        event.as_str(),
                        config.name,
                        config.kind
                    );
                    found.problem(offset, &place, message);
                }
            }
        }
    }
}

/// What follows for policies that leave it open.
fn consequence(hidden: &[&str]) -> &'static str {
    match (hidden.contains(&"failed"), hidden.contains(&"started")) {
        (true, true) => ": its policies leave retries to it, and jobs that wait in it are not limited",
        (true, false) => ": its policies leave retries to it",
        (false, true) => ": jobs that wait in it are not limited",
        (false, false) => "",
    }
}

fn needs(policy: &Policy, definition: &Definition) -> Vec<(Event, &'static str, &'static str)> {
    let adaptive = definition.gates.iter().any(|gate| matches!(gate.kind, GateKind::Adaptive { .. }));
    let by_time = matches!(policy.fairness(), Fairness::Weighted { cost: Cost::Time, .. });
    let needs = [
        (definition.retry == Some(Retry::Restage), (Event::Failed, "retry", "retry = \"restage\"")),
        (adaptive, (Event::Started, "gates", "an adaptive_concurrency gate")),
        (by_time, (Event::Started, "fairness", "fairness by worker time")),
    ];
    needs.into_iter().filter(|(needed, _)| *needed).map(|(_, need)| need).collect()
}
