//! `/policies/{name}`: one policy, its rules, who has the most of it, and the switches.

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use fairgate::PolicyName;
use fairgate::observe::{self, PolicyNumbers, PolicyStatus, Ranked, Rankings};
use fairgate_core::definition::Definition;
use maud::{Markup, html};

use super::{Asked, Window, charts, facts, fairness, given, window};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view::{definition, form, number, part, time};

/// Partitions of a ranking.
const TOP: u32 = 5;
pub(crate) async fn policy(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Path(name): Path<String>,
    Query(asked): Asked,
) -> Result<Response, Failure> {
    let name: PolicyName = name.parse()?;
    let span = Window::of(given(&asked, "window"));
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let trend = observe::trend(&mut tx, Some(&name), span.step(), window::STEPS).await?;
    let status = observe::status(&mut tx).await?;
    let policy = status.policies.iter().find(|policy| policy.name == name.as_str());
    let policy = policy.ok_or_else(|| Failure::not_found(format!("policy \"{name}\" is not registered")))?;
    let numbers = observe::policy_numbers(&mut tx).await?;
    let hints = observe::hints(&mut tx, admin.engine(), &status, &numbers).await?;
    let hints: Vec<_> =
        hints.into_iter().filter(|hint| hint.policy.as_deref() == Some(name.as_str())).collect();
    let rules: Option<Definition> = serde_json::from_value(policy.definition.clone()).ok();
    let half_life = fairness::half_life(rules.as_ref(), admin.engine());
    let shares = observe::shares(&mut tx, &name, half_life).await?;
    let tops = observe::rankings(&mut tx, &name, TOP).await?;
    let overrides = fairgate::overrides::list(&mut tx, &name, None).await?;
    let now = observe::now(&mut tx).await?;
    drop(tx);
    let numbers = numbers.iter().find(|numbers| numbers.name == name.as_str());
    let tick_max = admin.engine().tick_max_duration.as_secs_f64() * 1000.0;
    let body = html! {
        p.crumbs { (form::link(&ctx, "/policies", "Policies")) " / " (name) }
        div.row { h1 { (name) } (part::state(policy)) }
        @if !ctx.read_only { (actions(&ctx, policy)) }
        (facts::list(&tell(policy, numbers, rules.as_ref(), now)))
        @if !hints.is_empty() { section.card aria-labelledby="hints" { h2 #hints { "What needs you" } (part::hints(&ctx, &hints)) } }
        section aria-labelledby="over-time" {
            div.row { h2 #over-time { "Over time" } (span.links(&ctx.to(&format!("/policies/{name}")))) }
            (charts::all(&trend, span, None, tick_max))
        }
        section aria-labelledby="top" {
            div.row { h2 #top { "Partitions" } (form::link(&ctx, &format!("/partitions/{name}"), "all of them")) }
            (rankings(&ctx, &name, &tops))
        }
        (fairness::section(&ctx, &name, &shares))
        @if !overrides.is_empty() {
            section aria-labelledby="overrides" { h2 #overrides { "Overridden limits" } (super::partition::overrides_table(&ctx, &name, &overrides, now)) }
        }
        details.card #definition { summary { "Rules as registered (JSON)" } pre tabindex="0" { (serde_json::to_string_pretty(&policy.definition).unwrap_or_default()) } }
        p { (form::link(&ctx, &format!("/audit?policy={name}"), "What operators did here")) }
    };
    Ok(ctx.page(name.as_str(), "/policies", &body))
}

fn tell(
    policy: &PolicyStatus,
    numbers: Option<&PolicyNumbers>,
    rules: Option<&Definition>,
    now: chrono::DateTime<chrono::Utc>,
) -> Vec<(&'static str, Markup)> {
    let mut told = vec![
        (
            "Waiting",
            html! { (number::count(policy.pending)) ", and " (number::count(policy.scheduled)) " scheduled" },
        ),
        ("In flight", html! { (number::count(policy.in_flight)) }),
        (
            "Oldest wait",
            html! { @match policy.oldest_ready_at { Some(at) => (time::since(now, at)), None => "–" } },
        ),
    ];
    if let Some(numbers) = numbers {
        told.push(("Admitted a minute", html! {
            (number::count(numbers.admitted_1m)) span.quiet { " (1 min), " } (number::amount(numbers.admitted_5m as f64 / 5.0)) span.quiet { " (5 min), " }
            (number::amount(numbers.admitted_15m as f64 / 15.0)) span.quiet { " (15 min)" }
        }));
        if let Some(arrived) = numbers.arrived_per_minute {
            told.push(("Arrived a minute", html! { (number::amount(arrived)) span.quiet { " (5 min)" } }));
        }
        told.push(("Partitions", html! { (number::count(policy.partitions)) ", jobs wait in " (number::count(numbers.waiting_partitions)) }));
    }
    if let Some(rules) = rules {
        told.push(("A partition is", html! { code { (definition::partition_by(rules)) } }));
        told.push(("Gates", definition::gates(rules)));
        told.push(("Fairness", html! { (definition::fairness(rules)) }));
    }
    told.push((
        "Queue",
        html! { (policy.queue) @if let Some(problem) = &policy.queue_problem { ": " (problem) } },
    ));
    told.push(("Revision", html! { (policy.revision) }));
    told
}

fn actions(ctx: &Ctx, policy: &PolicyStatus) -> Markup {
    let to = |verb: &str| format!("/policies/{}/{verb}", policy.name);
    html! {
        div.actions role="group" aria-label="Operations" {
            @if policy.paused { (form::button(ctx, &to("resume"), &[], "Resume")) } @else { (form::button(ctx, &to("pause"), &[], "Pause")) }
            (form::careful(ctx, "drain", &to("drain"), &[], "Drain",
                &format!("All {} waiting jobs are admitted now, past every gate. Scheduled jobs stay. This is not taken back.", number::count(policy.pending))))
            @if policy.enabled {
                (form::careful(ctx, "disable", &to("disable"), &[], "Disable",
                    "Nothing is admitted any more, what is staged stays, and new jobs go straight to the queue, past every gate."))
            } @else { (form::button(ctx, &to("enable"), &[], "Enable")) }
        }
    }
}

fn rankings(ctx: &Ctx, policy: &PolicyName, tops: &Rankings) -> Markup {
    html! {
        div.cards {
            (ranking(ctx, policy, "Most waiting", &tops.waiting, number::amount))
            (ranking(ctx, policy, "Most in flight", &tops.in_flight, number::amount))
            (ranking(ctx, policy, "Longest wait", &tops.longest_wait, time::seconds))
            (ranking(ctx, policy, "Most ever admitted", &tops.lifetime, number::amount))
        }
    }
}

fn ranking(
    ctx: &Ctx,
    policy: &PolicyName,
    title: &str,
    ranked: &[Ranked],
    words: fn(f64) -> String,
) -> Markup {
    let most = ranked.first().map_or(1.0, |first| first.value.max(f64::MIN_POSITIVE));
    html! {
        div.card.ranking {
            h3 { (title) }
            @if ranked.is_empty() { p.quiet { "none" } }
            ol {
                @for one in ranked {
                    li { (form::partition(ctx, policy.as_str(), &one.key)) span.number { (words(one.value)) } (part::bar(one.value / most * 0.999, &words(one.value))) }
                }
            }
        }
    }
}
