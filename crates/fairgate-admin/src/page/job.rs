//! `/jobs/{id}`: where a job is, and why it waits.

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use fairgate::JobId;
use fairgate::observe::{self, InFlightJob, JobDetails, JobExplanation, StagedJob};
use fairgate::quarantine::QuarantinedJob;
use maud::{Markup, html};

use super::{Asked, facts, given};
use crate::admin::Shared;
use crate::ctx::{Ctx, Flash};
use crate::failure::Failure;
use crate::view::{form, hold, number, part, time};

/// Characters of a payload that are shown.
const SHOWN: u16 = 20_000;

/// `/jobs?id=..`: on to the page of that job.
pub(crate) async fn find_job(
    Extension(ctx): Extension<Ctx>,
    Query(asked): Asked,
) -> Result<Response, Failure> {
    let id = given(&asked, "id").unwrap_or_default();
    match id.parse::<JobId>() {
        Ok(id) => Ok(axum::response::IntoResponse::into_response(axum::response::Redirect::to(
            &ctx.to(&format!("/jobs/{id}")),
        ))),
        Err(error) => Ok(ctx.go("/", &Flash { good: false, text: error.to_string() })),
    }
}

pub(crate) async fn job(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    let id: JobId = id.parse()?;
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let told = observe::explain_job_in(&mut tx, &admin.means.policies, id, None).await?;
    let details = observe::job_details(&mut tx, id, SHOWN).await?;
    let now = observe::now(&mut tx).await?;
    drop(tx);
    let body = html! {
        p.crumbs { "Job" @if let Some((policy, partition)) = home(&told) { " / " (form::policy(&ctx, policy)) @if let Some(key) = partition { " / " (form::partition(&ctx, policy, key)) } } }
        h1.mono { (id) }
        (life(&told, now))
        @match &told {
            JobExplanation::Staged(job) => (staged(&ctx, job)),
            JobExplanation::InFlight(job) => (in_flight(job, now)),
            JobExplanation::Quarantined(job) => (quarantined(&ctx, job, now)),
            JobExplanation::Gone { .. } => section.card { p { "This job is not here: it is done, was cancelled, was sent while fairgate was disabled, or never was." } },
        }
        @if let Some(details) = &details { (carried(details)) }
    };
    Ok(ctx.page(&format!("Job {id}"), "", &body))
}

/// Its policy and partition.
fn home(told: &JobExplanation) -> Option<(&str, Option<&str>)> {
    match told {
        JobExplanation::Staged(job) => Some((&job.partition.policy, Some(&job.partition.partition))),
        JobExplanation::InFlight(job) => Some((&job.policy, job.partition.as_deref())),
        JobExplanation::Quarantined(job) => Some((&job.policy, Some(&job.partition_key))),
        JobExplanation::Gone { .. } => None,
    }
}

/// Staged, admitted, started, done: what has happened, and what is next.
fn life(told: &JobExplanation, now: DateTime<Utc>) -> Markup {
    let (staged, admitted, started, end) = match told {
        JobExplanation::Staged(job) => (Some(job.staged_at), None, None, None),
        JobExplanation::InFlight(job) => {
            (drawn_at(job.slot.job_id), Some(job.slot.admitted_at), job.slot.started_at, None)
        }
        JobExplanation::Quarantined(job) => {
            (Some(job.staged_at), None, None, Some(("quarantined", Some(job.quarantined_at))))
        }
        JobExplanation::Gone { job_id } => (drawn_at(*job_id), None, None, Some(("gone", None))),
    };
    let end = end.unwrap_or(("done", None));
    let is_over = end.0 != "done";
    let steps = [
        ("staged", staged.is_some(), staged),
        ("admitted", admitted.is_some(), admitted),
        ("started", started.is_some(), started),
        (end.0, is_over, end.1),
    ];
    html! {
        ol.life {
            @for (word, reached, at) in steps {
                li class=(if reached { "reached" } else { "open" }) {
                    span { (word) }
                    span.quiet { @match at { Some(at) => (time::ago(now, at)), None => { @if reached || end.0 == "gone" { "–" } @else { "not yet" } } } }
                }
            }
        }
    }
}

/// When its id was drawn: ids begin with milliseconds.
fn drawn_at(job: JobId) -> Option<DateTime<Utc>> {
    let uuid = job.as_uuid();
    let millis = i64::try_from(uuid.as_u128() >> 80).ok()?;
    (uuid.get_version_num() == 7).then(|| DateTime::from_timestamp_millis(millis)).flatten()
}

fn staged(ctx: &Ctx, job: &StagedJob) -> Markup {
    let id = job.job_id.to_string();
    html! {
        section.card aria-labelledby="why" {
            h2 #why { "Why it waits" }
            p.strong { @match job.ahead { 0 => "It is the next in line.", ahead => { (number::jobs(ahead)) " of its partition " (if ahead == 1 { "goes" } else { "go" }) " before it." } } }
            (hold::answer(job.earliest, &job.holds, &job.partition))
            @if let Some(error) = &job.forward_error { p { "Its queue refused it " (job.forward_attempts) " times, last with: " code { (error) } } }
            (hold::gates(&job.partition))
        }
        @if !ctx.read_only {
            div.actions role="group" aria-label="Operations" {
                (form::careful(ctx, "cancel", &format!("/jobs/{id}/cancel"), &[], "Cancel", "The job is deleted and never runs. This is not taken back."))
            }
        }
        (facts::list(&[
            ("Task", html! { (job.task) }),
            ("Priority", html! { (job.priority) span.quiet { " (smaller goes first)" } }),
            ("May go from", html! { @match job.run_at { Some(at) => (time::at(at)), None => "at once" } }),
        ]))
        @if !job.partition.slots.is_empty() {
            section { h2 { "Who holds the slots of its partition" } (hold::slots(ctx, "Slots", &job.partition.slots, job.partition.now)) }
        }
    }
}

fn in_flight(job: &InFlightJob, now: DateTime<Utc>) -> Markup {
    let slot = &job.slot;
    html! {
        section.card {
            p.strong { "Its queue has it, for " (time::since(now, slot.admitted_at)) "." }
            @if slot.forced { p { (part::badge("info", "forced")) " An operator let it go past the gates." } }
        }
        (facts::list(&[
            ("Queue", html! { (job.queue) ", as " span.mono { (slot.queue_job_id) } }),
            ("Started", html! { @match slot.started_at { Some(at) => (time::ago(now, at)), None => "no start was seen" } }),
            ("Last heartbeat", html! { @match slot.beat_at { Some(at) => (time::ago(now, at)), None => "none" } }),
            ("Admission", html! { span.mono { (slot.admission_id) } }),
        ]))
    }
}

fn quarantined(ctx: &Ctx, job: &QuarantinedJob, now: DateTime<Utc>) -> Markup {
    let id = job.job_id.to_string();
    html! {
        section.card.failure {
            p.strong { "Its queue refused it " (job.forward_attempts) " times, and it was set aside " (time::ago(now, job.quarantined_at)) "." }
            pre tabindex="0" { (job.error) }
        }
        @if !ctx.read_only {
            div.actions role="group" aria-label="Operations" {
                (form::button(ctx, &format!("/jobs/{id}/restage"), &[], "Restage"))
                (form::careful(ctx, "drop", &format!("/jobs/{id}/drop"), &[], "Drop", "The job is deleted for good."))
            }
        }
    }
}

fn carried(details: &JobDetails) -> Markup {
    let cut =
        usize::try_from(details.payload_chars).is_ok_and(|length| length > details.payload.chars().count());
    html! {
        (facts::list(&[
            ("Attempts", html! { (details.attempts) @if let Some(most) = details.max_attempts { " of " (most) } }),
            ("Dedupe key", html! { (details.dedupe_key.as_deref().unwrap_or("none")) }),
            ("Queue name", html! { (details.queue_name.as_deref().unwrap_or("none")) }),
        ]))
        @if let Some(error) = &details.last_error { section.card.failure { h2 { "Its last attempt ended with" } pre tabindex="0" { (error) } } }
        details.card #payload open {
            summary { "Payload" @if cut { ", the first of " (number::count(details.payload_chars)) " characters" } }
            pre tabindex="0" { (pretty(&details.payload)) }
        }
        details.card #context { summary { "Context" } pre tabindex="0" { (pretty(&details.context)) } }
    }
}

/// Indented where that changes nothing but blanks: numbers and keys stay as they were written.
fn pretty(text: &str) -> String {
    let raw: Result<&serde_json::value::RawValue, _> = serde_json::from_str(text);
    match raw {
        Ok(_) if text.len() < 4_000 && !text.contains('\n') => indent(text),
        _ => text.to_owned(),
    }
}

fn indent(text: &str) -> String {
    let (mut out, mut depth, mut in_text, mut escaped) = (String::new(), 0_usize, false, false);
    for symbol in text.chars() {
        if in_text {
            out.push(symbol);
            in_text = escaped || symbol != '"';
            escaped = symbol == '\\' && !escaped;
            continue;
        }
        let line = |depth: usize| format!("\n{}", "  ".repeat(depth.min(40)));
        match symbol {
            '"' => {
                in_text = true;
                out.push(symbol);
            }
            '{' | '[' => {
                depth += 1;
                out.push(symbol);
                out += &line(depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                out += &line(depth);
                out.push(symbol);
            }
            ',' => {
                out.push(symbol);
                out += &line(depth);
            }
            ':' => out += ": ",
            ' ' | '\t' => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_indented_and_its_numbers_and_texts_stay() {
        let text = r#"{"z":"a\",b: {","n":1e400,"m":[-0]}"#;
        assert_eq!(indent(text), "{\n  \"z\": \"a\\\",b: {\",\n  \"n\": 1e400,\n  \"m\": [\n    -0\n  ]\n}");
    }
}
