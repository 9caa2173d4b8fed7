//! `/`: everything at a glance, and what needs an operator.

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use fairgate::observe::{self, PolicyNumbers, QueueStatus, Status};
use maud::{Markup, html};

use super::{Asked, Window, charts, given, window};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view::{form, number, part, time};

pub(crate) async fn dashboard(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Query(asked): Asked,
) -> Result<Response, Failure> {
    let span = Window::of(given(&asked, "window"));
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let status = observe::status(&mut tx).await?;
    let numbers = observe::policy_numbers(&mut tx).await?;
    let queues = observe::queues(&mut tx).await?;
    let hints = observe::hints(&mut tx, admin.engine(), &status, &numbers).await?;
    let trend = observe::trend(&mut tx, None, span.step(), window::STEPS).await?;
    let now = observe::now(&mut tx).await?;
    drop(tx);
    let target = admin.engine().throughput_target.map(|target| target * 60.0);
    let tick_max = admin.engine().tick_max_duration.as_secs_f64() * 1000.0;
    let body = html! {
        h1 { "Dashboard" }
        (tiles(&status, &numbers, &queues, &trend, target, tick_max, now))
        section.card aria-labelledby="hints" { h2 #hints { "What needs you" } (part::hints(&ctx, &hints)) }
        section aria-labelledby="over-time" {
            div.row { h2 #over-time { "Over time" } (span.links(&ctx.to("/"))) }
            (charts::all(&trend, span, target, tick_max))
        }
        section aria-labelledby="by-policy" { h2 #by-policy { "By policy" } (policies(&ctx, &status, now)) }
        section aria-labelledby="queues" { h2 #queues { "Queues" } (queue_table(&queues)) }
        section.card aria-labelledby="engine" { h2 #engine { "Engine" } (engine(&ctx, &status)) }
    };
    Ok(ctx.page("Dashboard", "/", &body))
}

fn tiles(
    status: &Status,
    numbers: &[PolicyNumbers],
    queues: &[QueueStatus],
    trend: &observe::Trend,
    target: Option<f64>,
    tick_max: f64,
    now: DateTime<Utc>,
) -> Markup {
    let sum = |of: fn(&observe::PolicyStatus) -> i64| status.policies.iter().map(of).sum::<i64>();
    let (pending, scheduled) = (sum(|policy| policy.pending), sum(|policy| policy.scheduled));
    let minute: i64 = numbers.iter().map(|policy| policy.admitted_1m).sum();
    let oldest = status.policies.iter().filter_map(|policy| policy.oldest_ready_at).min();
    let slowest = numbers.iter().map(|policy| policy.slowest_tick_ms).fold(0.0, f64::max);
    let worst = |of: fn(&PolicyNumbers) -> Option<f64>| numbers.iter().filter_map(of).reduce(f64::max);
    let queued: i64 = queues.iter().map(|queue| queue.waiting).sum();
    html! {
        dl.tiles {
            (part::tile("Waiting", &html! { (number::count(pending)) }, &html! { (direction(trend, pending)) ", " (number::count(scheduled)) " scheduled" }))
            (part::tile("In flight", &html! { (number::count(sum(|policy| policy.in_flight))) }, &html! { (number::count(queued)) " not begun by a worker" }))
            (part::tile("Admitted", &html! { (number::count(minute)) span.unit { "/min" } }, &html! {
                @match target { Some(target) => { (number::percent(minute as f64 / target)) " of the target" }, None => { (number::amount(minute as f64 / 60.0)) " a second" } }
            }))
            (part::tile("Oldest wait", &html! { @match oldest { Some(at) => (time::since(now, at)), None => "–" } }, &html! { "since its first job could go" }))
            (part::tile("Slowest tick", &html! { (number::amount(slowest)) span.unit { " ms" } }, &html! { "of at most " (number::amount(tick_max)) " ms, last minute" }))
            (part::tile("Last look", &html! { @match worst(|policy| policy.look_age_p50) { Some(age) => { (time::seconds(age)) " ago" }, None => "–" } }, &html! {
                @match (worst(|policy| policy.look_age_p95), worst(|policy| policy.look_age_max)) {
                    (Some(most), Some(oldest)) => { "95 of 100 within " (time::seconds(most)) ", oldest " (time::seconds(oldest)) },
                    _ => "of partitions with waiting jobs",
                }
            }))
        }
    }
}

/// Where the backlog goes, against the middle of the chart.
fn direction(trend: &observe::Trend, pending: i64) -> &'static str {
    let before = trend.buckets.iter().skip(trend.buckets.len() / 2).find_map(|bucket| bucket.pending);
    match before {
        None => "steady",
        Some(before) if pending > before + before / 20 + 1 => "▲ growing",
        Some(before) if pending + before / 20 + 1 < before => "▼ shrinking",
        Some(_) => "steady",
    }
}

fn policies(ctx: &Ctx, status: &Status, now: DateTime<Utc>) -> Markup {
    let rows: Vec<Markup> = status
        .policies
        .iter()
        .map(|policy| {
            html! {
                tr {
                    th scope="row" { (form::policy(ctx, &policy.name)) }
                    td { (part::state(policy)) }
                    td.number { (number::count(policy.partitions)) }
                    td.number { (number::count(policy.pending)) }
                    td.number { (number::count(policy.in_flight)) }
                    td.number { (number::count(policy.admitted_last_minute)) }
                    td.number { @if let Some(at) = policy.oldest_ready_at { (time::since(now, at)) } }
                    td { (held_by(policy)) }
                }
            }
        })
        .collect();
    let head = [
        ("policy", false),
        ("state", false),
        ("partitions", true),
        ("waiting", true),
        ("in flight", true),
        ("admitted/min", true),
        ("oldest wait", true),
        ("held by, last minute", false),
    ];
    html! {
        @if rows.is_empty() {
            p.card { "No policy is registered; " code { "fairgate apply" } " registers those of fairgate.toml." }
        } @else { (part::table("Policies", &head, &rows)) }
    }
}

/// The two most frequent reasons.
fn held_by(policy: &observe::PolicyStatus) -> Markup {
    let counts = policy.denials_last_minute.as_object();
    let mut counts: Vec<(&str, i64)> = (counts.into_iter().flatten())
        .map(|(code, looks)| (code.as_str(), looks.as_i64().unwrap_or(0)))
        .collect();
    counts.sort_by_key(|(code, looks)| (-looks, *code));
    html! {
        @for (index, (code, looks)) in counts.iter().take(2).enumerate() {
            @if index > 0 { ", " }
            (part::reason(code)) " " span.quiet { "×" (number::count(*looks)) }
        }
    }
}

fn queue_table(queues: &[QueueStatus]) -> Markup {
    let limit = |queue: &QueueStatus| match queue.max_waiting {
        None => "fits itself".to_owned(),
        Some(0) => "none".to_owned(),
        Some(limit) => number::count(limit.into()),
    };
    let rows: Vec<Markup> = queues
        .iter()
        .map(|queue| {
            html! {
                tr {
                    th scope="row" { (queue.name) " " span.quiet { (queue.kind) " in " (queue.schema_name) } }
                    td { @if queue.ready { (part::badge("good", "ready")) } @else { (part::badge("problem", "not ready")) " " (queue.problem.as_deref().unwrap_or("")) } }
                    td.number { (number::count(queue.waiting)) }
                    td.number { (limit(queue)) }
                    td.number { (number::count(queue.running.into())) }
                    td.number { (number::amount(queue.starts_per_second)) }
                }
            }
        })
        .collect();
    let head = [
        ("queue", false),
        ("state", false),
        ("not begun", true),
        ("limit", true),
        ("running", true),
        ("starts/s", true),
    ];
    part::table("Queues", &head, &rows)
}

fn engine(ctx: &Ctx, status: &Status) -> Markup {
    html! {
        div.row {
            p {
                "fairgate is " strong { (if status.enabled { "enabled" } else { "disabled" }) } ", "
                (number::many(status.tickers, "ticker", "tickers")) " seen in the last minute, "
                (number::many(status.reports, "report waits", "reports wait")) " to be absorbed, "
                a href=(ctx.to("/quarantine")) { (number::many(status.quarantined, "job", "jobs")) " quarantined" } "."
            }
            @if !ctx.read_only {
                @if status.enabled {
                    (form::careful(ctx, "disable-all", "/engine/disable", &[], "Disable everything",
                        "Nothing is admitted any more, what is staged stays, and new jobs go straight to their queues, past every gate."))
                } @else { (form::button(ctx, "/engine/enable", &[], "Enable")) }
            }
        }
    }
}
