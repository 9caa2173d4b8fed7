//! The page that a person reads.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use super::api;
use crate::app::App;
use crate::status::{Account, Entities, Status, instant, next};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}\
h1{margin-bottom:.2rem}.lead{font-size:1.2rem;margin-top:0}table{border-collapse:collapse;margin:1rem 0;width:100%}\
th,td{text-align:left;padding:.35rem .8rem .35rem 0;border-bottom:1px solid #d0d7de;vertical-align:top}th{font-weight:600}\
meter{width:12rem}.warn{color:#9a3412}@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}.warn{color:#fdba74}}";

pub(super) async fn show(State(app): State<Arc<App>>) -> Response {
    match api::read_status(&app).await {
        Ok(status) => Html(page(&status).into_string()).into_response(),
        Err(error) => api::failed(&error),
    }
}

fn page(status: &Status) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="refresh" content="15";
                title { "pushfeed" }
                style { (maud::PreEscaped(STYLE)) }
            }
            body {
                h1 { "pushfeed" }
                p.lead { (sentence(status)) }
                h2 { "Polling" }
                table { (rows(&polling(status))) }
                h2 { "Request budget of this hour" }
                (budget(status))
                h2 { "Who and what the events mention" }
                (enrichment(status))
                p { "The same as " a href="/status" { "JSON" } "; events at " a href="/api/push_events" { "/api/push_events" } ". As of " (instant(status.now)) "." }
            }
        }
    }
}

/// What a person wants to know first.
fn sentence(status: &Status) -> String {
    let events = status.events.persisted;
    if let Some(why) = &status.source.out_of_service {
        return format!("{events} push events kept. The feed is out of service until you act: {why}.");
    }
    match status.budget.blocked_until {
        Some(until) => {
            format!("{events} push events kept. Nothing is sent to GitHub until {}.", instant(until))
        }
        None => format!(
            "{events} push events kept. Everything is running; the next poll is due {}.",
            status.next_poll()
        ),
    }
}

fn polling(status: &Status) -> Vec<(&'static str, String)> {
    let time = |at: Option<chrono::DateTime<chrono::Utc>>| at.map_or_else(|| "nothing".to_owned(), instant);
    vec![
        (
            "Last poll that worked",
            status.source.latest_successful_run.map_or_else(|| "never".to_owned(), instant),
        ),
        ("Next poll due", status.next_poll()),
        ("Our own rhythm waits for", time(status.schedule.cadence)),
        ("GitHub asks to wait for", time(status.schedule.floor)),
        ("Back-off after failures until", time(status.schedule.backoff)),
        ("Global block", status.block()),
        ("Bad events kept aside", status.events.quarantined.to_string()),
    ]
}

fn rows(rows: &[(&str, String)]) -> Markup {
    html! { @for (label, value) in rows { tr { th { (label) } td { (value) } } } }
}

fn budget(status: &Status) -> Markup {
    let budget = &status.budget;
    let meter = |name: &str, account: Account| {
        html! { tr { th { (name) } td { meter max=(account.of.max(1)) value=(account.used) {} " " (account.to_string()) } } }
    };
    let limit =
        budget.limit.map_or_else(|| "unknown until the next poll".to_owned(), |limit| limit.to_string());
    html! {
        p { "Left: " (status.remaining()) " of " (limit) ", of which " (budget.reserve) " are never spent. Reset: "
            (budget.reset_at.map_or_else(|| "unknown".to_owned(), instant)) "." }
        table {
            (meter("Polls", budget.poll))
            (meter("Enrichment", budget.enrichment))
            (meter("… of actors", budget.actor))
            (meter("… of repositories", budget.repository))
            @if let Some(search) = &status.search { (meter("Searches of this minute", search.used)) }
        }
    }
}

fn enrichment(status: &Status) -> Markup {
    let coverage = |entities: &Entities| {
        entities.coverage.map_or_else(|| "unknown".to_owned(), |part| format!("{:.1}%", part * 100.0))
    };
    let row = |name: &str, of: &dyn Fn(&Entities) -> String| {
        html! { tr { th { (name) } td { (of(&status.actors)) } td { (of(&status.repositories)) } } }
    };
    html! {
        table {
            tr { th {} th { "Actors" } th { "Repositories" } }
            (row("Waiting for their first document", &|e| e.pending.to_string()))
            (row("With a document", &|e| e.complete.to_string()))
            (row("Failed, to be tried again", &|e| e.retryable_failure.to_string()))
            (row("Failed for good", &|e| e.permanent_failure.to_string()))
            (row("Given up for want of budget", &|e| e.skipped_budget.to_string()))
            (row("Coverage of those seen lately", &|e| format!("{} ({} of {})", coverage(e), e.covered, e.seen)))
            (row("Keeping up", &|e| e.keeping_up.replace('_', " ")))
        }
        p { "Next enrichment: " (next(&status.next_enrichment)) "." }
    }
}
