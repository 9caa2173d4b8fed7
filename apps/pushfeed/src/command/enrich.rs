//! `pushfeed enrich`.

use super::print;
use crate::app::App;
use crate::cli::EnrichArgs;
use crate::enrich::{Cycle, enrich};
use crate::error::FeedError;
use crate::fetch::Deferral;
use crate::setup;
use crate::status::{Status, block, instant, next};

#[derive(Default)]
struct Tally {
    cycles: u32,
    enriched: u32,
    failed: u32,
}

pub(super) async fn run(app: &App, args: &EnrichArgs) -> Result<u8, FeedError> {
    setup::ensure(app).await?;
    let mut worker = app.worker().await?;
    let mut tally = Tally::default();
    let mut answer = None;
    let mut limited = false;
    while tally.cycles < args.limit && answer.is_none() && !limited {
        match enrich(&mut worker, args.class).await? {
            Cycle::Enriched(_) => tally.enriched += 1,
            Cycle::Searched(_, enriched, _) => tally.enriched += enriched,
            Cycle::Failed(..) => tally.failed += 1,
            Cycle::LeaseLost => {}
            Cycle::Limited => limited = true,
            Cycle::Deferred(deferral) => {
                answer = Some(deferred(&deferral));
                break;
            }
            Cycle::Nothing => {
                answer = Some(String::new());
                break;
            }
        }
        tally.cycles += 1;
    }
    let status = Status::read(app, &mut worker.conn).await?;
    let nothing = || format!("Nothing to enrich: next enrichment {}", next(&status.next_enrichment));
    let answer = match answer {
        _ if limited => format!("Deferred: a limit of GitHub{}", until(&status)),
        Some(answer) if answer.is_empty() && tally.cycles == 0 => nothing(),
        Some(answer) if !answer.is_empty() => answer,
        _ => "Enriched".to_owned(),
    };
    print(&format!("{answer}\n{}", block(&lines(&tally, &status))))?;
    Ok(0)
}

/// Until when everything is blocked.
pub(super) fn until(status: &Status) -> String {
    status.budget.blocked_until.map_or_else(String::new, |until| format!(" until {}", instant(until)))
}

/// Why nothing was sent, and until when if that is known.
pub(super) fn deferred(deferral: &Deferral) -> String {
    match deferral.until() {
        Some(until) => format!("Deferred: {} until {}", deferral.code(), instant(until)),
        None => format!("Deferred: {}", deferral.code()),
    }
}

fn lines(tally: &Tally, status: &Status) -> Vec<(&'static str, String)> {
    vec![
        ("Enrichment cycles", tally.cycles.to_string()),
        ("Entities enriched", tally.enriched.to_string()),
        ("Entities failed", tally.failed.to_string()),
        ("Actors pending/complete/skipped", status.actors.states()),
        ("Repos pending/complete/skipped", status.repositories.states()),
        ("Actor requests used", status.budget.actor.to_string()),
        ("Repository requests used", status.budget.repository.to_string()),
        ("Next enrichment", next(&status.next_enrichment)),
    ]
}
