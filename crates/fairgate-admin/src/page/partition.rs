//! `/partitions/{policy}?key=..`: one partition: what holds it, who holds its slots, who waits in which order, and what can be done.

use axum::response::Response;
use chrono::{DateTime, Utc};
use fairgate::observe::{self, PartitionExplanation, PartitionStatus, WaitingJob};
use fairgate::overrides::Override;
use fairgate::{PartitionKey, PolicyName, audit};
use fairgate_core::definition::{Definition, GateKind};
use maud::{Markup, html};

use super::{facts, fairness};
use crate::admin::Admin;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view::{form, hold, number, part, time};

/// Jobs of the line that are shown.
const LINE: u32 = 20;
/// Operations that are shown.
const TRAIL: u32 = 5;

pub(crate) async fn partition(
    admin: &Admin,
    ctx: &Ctx,
    policy: &PolicyName,
    key: &PartitionKey,
) -> Result<Response, Failure> {
    let mut conn = admin.connection().await?;
    let own = &admin.means.policies;
    let mut tx = observe::reading(&mut conn).await?;
    let told = observe::explain_partition_in(&mut tx, own, policy, key, None).await?;
    let status = observe::partition(&mut tx, policy, key).await?;
    let line = observe::waiting_jobs(&mut tx, policy, key, LINE).await?;
    let trail = audit::list(&mut tx, Some(policy), Some(key), None, TRAIL).await?;
    let definition = observe::definition(&mut tx, policy).await?;
    drop(tx);
    let rules: Option<Definition> = serde_json::from_value(definition).ok();
    let half_life = fairness::half_life(rules.as_ref(), admin.engine());
    let fields = [("key", key.as_str())];
    let paused = status.as_ref().is_some_and(|status| status.paused);
    let body = html! {
        p.crumbs { (form::link(ctx, "/partitions", "Partitions")) " / " (form::link(ctx, &format!("/partitions/{policy}"), policy.as_str())) }
        div.row { h1.key { (key) } @if paused { (part::badge("warning", "paused")) } }
        section.card aria-labelledby="why" {
            h2 #why { "Why the next job waits" }
            (hold::answer(told.earliest, &told.holds, &told))
            (hold::gates(&told))
        }
        @if !ctx.read_only { (actions(ctx, policy, &fields, paused, &told, rules.as_ref())) }
        (facts::list(&tell(&told, status.as_ref(), half_life)))
        @if !told.overrides.is_empty() {
            section aria-labelledby="overrides" { h2 #overrides { "Overridden limits" } (overrides_table(ctx, policy, &told.overrides, told.now)) }
        }
        section aria-labelledby="line" { h2 #line { "Waiting, in the order in which they go" } (waiting(ctx, &line, &told)) }
        section aria-labelledby="slots" {
            h2 #slots { "In flight, the oldest" }
            @if told.slots.is_empty() { p.card.quiet { "None." } } @else { (hold::slots(ctx, "In flight", &told.slots, told.now)) }
        }
        @for gate in &told.gates {
            @if let Some(scope) = gate.scope.as_ref().filter(|scope| !scope.slots.is_empty()) {
                section { h2 { "Who holds the slots of gate " (gate.gate) } (hold::slots(ctx, "Slots", &scope.slots, told.now)) }
            }
        }
        @if let Some(status) = &status { details.card #context open { summary { "Context" } pre tabindex="0" { (pretty(status)) } } }
        @if !trail.is_empty() { section aria-labelledby="trail" { h2 #trail { "What operators did here" } (super::audit::table(ctx, &trail, told.now)) } }
    };
    Ok(ctx.page(key.as_str(), "/partitions", &body))
}

fn tell(
    told: &PartitionExplanation,
    status: Option<&PartitionStatus>,
    half_life: Option<std::time::Duration>,
) -> Vec<(&'static str, Markup)> {
    let mut facts = vec![
        (
            "Waiting",
            html! { (number::count(told.pending)) ", and " (number::count(told.scheduled)) " scheduled" },
        ),
        ("In flight", html! { (number::count(told.in_flight)) }),
    ];
    let Some(status) = status else { return facts };
    facts.push(("Ever admitted", html! { (number::count(status.admitted)) }));
    if let (Some(checked), Some(half_life)) = (status.checked_at, half_life) {
        // Activity halves in each half-life; at a steady rate it is rate * half_life / ln 2.
        let age = (told.now - checked).num_milliseconds().max(0) as f64 / 1000.0;
        let faded = status.recent * 0.5_f64.powf(age / half_life.as_secs_f64());
        let rate = faded * std::f64::consts::LN_2 / half_life.as_secs_f64() * 60.0;
        facts.push(("Admitted of late", html! { "about " (number::amount(rate)) " a minute" }));
    }
    facts.push((
        "Last look",
        html! {
            @match status.checked_at { Some(at) => (time::ago(told.now, at)), None => "never" }
            @if let Some(code) = &status.denial { ": " (part::reason(code)) }
        },
    ));
    facts.push(("Next look", html! { @match status.due_at { Some(at) => (time::until(told.now, at)), None => "when something waits" } }));
    facts.push(("Shard", html! { (status.shard) }));
    facts
}

fn actions(
    ctx: &Ctx,
    policy: &PolicyName,
    fields: &[(&str, &str)],
    paused: bool,
    told: &PartitionExplanation,
    rules: Option<&Definition>,
) -> Markup {
    let to = |verb: &str| format!("/partitions/{policy}/{verb}");
    let targets = rules.map(targets).unwrap_or_default();
    html! {
        div.actions role="group" aria-label="Operations" {
            @if paused { (form::button(ctx, &to("resume"), fields, "Resume")) } @else { (form::button(ctx, &to("pause"), fields, "Pause")) }
            details.careful #admit {
                summary { "Admit some…" }
                div.drop {
                    p { "The next jobs in line are admitted now, past every gate and pause." }
                    (form::post(ctx, &to("admit"), fields, &html! {
                        label { "Jobs" input type="number" name="count" min="1" max="100000" value="1" required; }
                        button type="submit" { "Admit" }
                    }))
                }
            }
            (form::careful(ctx, "drain", &to("drain"), fields, "Drain",
                &format!("All {} waiting jobs are admitted now, past every gate and pause. Scheduled jobs stay. This is not taken back.", number::count(told.pending))))
            @if !targets.is_empty() {
                details.careful #override {
                    summary { "Override a limit…" }
                    div.drop {
                        p { "Another number for this partition alone, for a while. It ends by itself." }
                        (form::post(ctx, &to("override"), fields, &html! {
                            label { "Limit" select name="target" { @for target in &targets { option { (target) } } } }
                            label { "Number" input type="number" name="value" min="0" step="any" required; }
                            label { "For" input type="text" name="lasts" value="1h" required size="6" aria-describedby="lasts-help"; }
                            span.quiet #lasts-help { "as in 30m, 1h, 2d" }
                            label { "Why" input type="text" name="reason" required maxlength="500"; }
                            button type="submit" { "Override" }
                        }))
                    }
                }
            }
        }
    }
}

/// The numbers of its own gates, as in `concurrency.max`.
fn targets(rules: &Definition) -> Vec<String> {
    let own = rules.gates.iter().filter(|gate| gate.scope.to_string() == "partition");
    own.flat_map(|gate| {
        let parameters: &[&str] = match gate.kind {
            GateKind::Throttle { .. } => &["rate", "burst"],
            GateKind::Concurrency { .. } => &["max"],
            GateKind::Adaptive(_) => &["target_lag_ms"],
        };
        parameters.iter().map(|parameter| format!("{}.{parameter}", gate.name))
    })
    .collect()
}

/// Overrides in force, each with a button that ends it.
pub(crate) fn overrides_table(
    ctx: &Ctx,
    policy: &PolicyName,
    list: &[Override],
    now: DateTime<Utc>,
) -> Markup {
    let path = format!("/partitions/{policy}/clear-override");
    let rows: Vec<Markup> = list
        .iter()
        .map(|one| {
            let target = format!("{}.{}", one.gate, one.parameter);
            let key = one.partition.as_deref().unwrap_or_default();
            html! {
                tr {
                    th scope="row" { (target) }
                    td { @if !key.is_empty() { (form::partition(ctx, policy.as_str(), key)) } }
                    td.number { (one.value) }
                    td { (time::until(now, one.until)) }
                    td { (one.who) }
                    td { (one.reason) }
                    td { @if !ctx.read_only && !key.is_empty() { (form::button(ctx, &path, &[("key", key), ("target", &target)], "End")) } }
                }
            }
        })
        .collect();
    let head = [
        ("limit", false),
        ("partition", false),
        ("is", true),
        ("ends", false),
        ("by", false),
        ("because", false),
        ("", false),
    ];
    part::table("Overridden limits", &head, &rows)
}

fn waiting(ctx: &Ctx, line: &[WaitingJob], told: &PartitionExplanation) -> Markup {
    let rows: Vec<Markup> = line
        .iter()
        .enumerate()
        .map(|(place, job)| {
            html! {
                tr {
                    td.number { (place + 1) }
                    td { (form::job(ctx, &job.job_id.to_string())) }
                    td { (job.task) }
                    td.number { (job.priority) }
                    td { (time::since(told.now, job.ready_at)) }
                    td.number { (job.attempts) @if job.forward_attempts > 0 { span.quiet { ", refused " (job.forward_attempts) "×" } } }
                }
            }
        })
        .collect();
    let head = [
        ("#", true),
        ("job", false),
        ("task", false),
        ("priority", true),
        ("has waited", false),
        ("attempts", true),
    ];
    let more = told.pending - line.len() as i64;
    html! {
        @if rows.is_empty() { p.card.quiet { "None." } } @else { (part::table("Waiting", &head, &rows)) }
        @if more > 0 && !rows.is_empty() { p.quiet { "and " (number::count(more)) " more" } }
    }
}

fn pretty(status: &PartitionStatus) -> String {
    let text = serde_json::to_string_pretty(&status.context).unwrap_or_default();
    text.chars().take(20_000).collect()
}
