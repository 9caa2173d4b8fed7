//! Why something waits, in words.

use chrono::{DateTime, Utc};
use fairgate::observe::{Event, GateStanding, Hold, PartitionExplanation, ScopeStanding, Slot};
use maud::{Markup, html};

use super::{form, number, part, time};
use crate::ctx::Ctx;

/// What ends a hold.
const fn event(event: Event) -> &'static str {
    match event {
        Event::RunAt => "its time",
        Event::Ticker => "a ticker",
        Event::Finish => "a job to finish",
        Event::ContextChange => "a newer context",
        Event::Resume => "resume",
        Event::Enable => "enable",
        Event::Apply => "apply",
        Event::QueueReady => "its queue",
        Event::Workers => "workers to begin jobs",
        Event::Turn => "its turn",
        Event::Program => "another program",
    }
}

/// When it goes, or what it waits for.
pub(crate) fn answer(earliest: Option<DateTime<Utc>>, holds: &[Hold], told: &PartitionExplanation) -> Markup {
    html! {
        div.answer {
            @match earliest {
                Some(at) if at <= told.now => p.strong { "Nothing holds it: it goes at the next tick." },
                Some(at) => p.strong { "It will not go before " (time::at(at)) " UTC, " (time::until(told.now, at)) "." },
                None if told.pending + told.scheduled == 0 => p.strong { "Nothing waits." },
                None => {},
            }
            @if !holds.is_empty() {
                ul.holds {
                    @for hold in holds { li { "waits for " strong { (event(hold.event)) } ": " (hold.why) } }
                }
            }
        }
    }
}

/// Every gate: used, limit, what it lets go now and why no more.
pub(crate) fn gates(told: &PartitionExplanation) -> Markup {
    let rows: Vec<Markup> = told.gates.iter().map(|gate| row(gate, told.now)).collect();
    if rows.is_empty() {
        return html! { p.quiet { "No gates: everything goes." } };
    }
    let head = [
        ("gate", false),
        ("counts", false),
        ("used", true),
        ("", false),
        ("lets go now", true),
        ("because", false),
    ];
    part::table("Gates", &head, &rows)
}

fn row(gate: &GateStanding, now: DateTime<Utc>) -> Markup {
    let denied = gate.denial.as_ref();
    let used = gate.used.map(|used| used as f64).or_else(|| denied.and_then(|denial| denial.used));
    let limit = gate.limit.or_else(|| denied.and_then(|denial| denial.limit));
    let both = used.zip(limit);
    html! {
        tr {
            th scope="row" { (gate.gate) @if gate.kind != gate.gate { " " span.quiet { (gate.kind) } } @if gate.shadow { " " (part::badge("info", "shadow")) } }
            td { (scope(gate.scope.as_ref())) }
            td.number {
                @match both {
                    Some((used, limit)) => { (number::amount(used)) " / " (number::amount(limit)) },
                    None => { @if let Some(limit) = limit { "of " (number::amount(limit)) } },
                }
            }
            td.meter {
                @if let Some((used, limit)) = both {
                    (part::bar(if limit > 0.0 { used / limit } else { 1.0 }, &format!("{} of {} used", number::amount(used), number::amount(limit))))
                }
            }
            td.number { (number::count(i64::try_from(gate.allows).unwrap_or(i64::MAX))) }
            td {
                @if let Some(denial) = denied {
                    (denial.to_string())
                    @if denial.is_time_based() && denial.until > now { ", next " (time::until(now, denial.until)) }
                }
            }
        }
    }
}

fn scope(scope: Option<&ScopeStanding>) -> Markup {
    html! {
        @match scope {
            None => "this partition",
            Some(ScopeStanding { key: None, ahead, .. }) => { "the policy" (queue_of(*ahead)) },
            Some(ScopeStanding { key: Some(key), ahead, .. }) => { (key) (queue_of(*ahead)) },
        }
    }
}

fn queue_of(ahead: u64) -> Markup {
    html! { @if ahead > 0 { span.quiet { ", " (ahead) " partitions stand before it" } } }
}

/// Who holds slots.
pub(crate) fn slots(ctx: &Ctx, caption: &str, slots: &[Slot], now: DateTime<Utc>) -> Markup {
    let rows: Vec<Markup> = slots
        .iter()
        .map(|slot| {
            html! {
                tr {
                    td { (form::job(ctx, &slot.job_id.to_string())) @if slot.forced { " " (part::badge("info", "forced")) } }
                    td { (time::ago(now, slot.admitted_at)) }
                    td { @match slot.started_at { Some(at) => (time::ago(now, at)), None => span.quiet { "not seen" } } }
                    td.mono { (slot.queue_job_id) }
                }
            }
        })
        .collect();
    let head = [("job", false), ("admitted", false), ("started", false), ("the queue's id", false)];
    part::table(caption, &head, &rows)
}
