//! `/quarantine`: jobs that their queue refused for good.

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use fairgate::PolicyName;
use fairgate::observe;
use fairgate::quarantine::{self, QuarantinedJob};
use maud::{Markup, html};

use super::{Asked, given};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view::{form, number, part, time};

/// Jobs that are shown.
const SHOWN: usize = 200;

pub(crate) async fn quarantine(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Query(asked): Asked,
) -> Result<Response, Failure> {
    let policy: Option<PolicyName> = given(&asked, "policy").map(str::parse).transpose()?;
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let jobs = quarantine::list(&mut tx, policy.as_ref()).await?;
    let now = observe::now(&mut tx).await?;
    drop(tx);
    let rows: Vec<Markup> = jobs.iter().take(SHOWN).map(|job| row(&ctx, job, now)).collect();
    let head = [
        ("job", false),
        ("policy", false),
        ("partition", false),
        ("task", false),
        ("tries", true),
        ("since", false),
        ("error", false),
        ("", false),
    ];
    let body = html! {
        h1 { "Quarantine" @if let Some(policy) = &policy { " of " (policy) } }
        p.quiet { "Jobs that their queue refused so often that they were set aside. Restaged, they wait in line again." }
        @if rows.is_empty() { p.card { "No job is quarantined." } } @else {
            (part::table("Quarantined jobs", &head, &rows))
            @if jobs.len() > SHOWN { p.quiet { "the newest " (SHOWN) " of " (number::count(jobs.len() as i64)) } }
            @if !ctx.read_only { (all(&ctx, &jobs)) }
        }
    };
    Ok(ctx.page("Quarantine", "/quarantine", &body))
}

fn row(ctx: &Ctx, job: &QuarantinedJob, now: chrono::DateTime<chrono::Utc>) -> Markup {
    let id = job.job_id.to_string();
    html! {
        tr {
            td { (form::job(ctx, &id)) }
            td { (form::policy(ctx, &job.policy)) }
            td { (form::partition(ctx, &job.policy, &job.partition_key)) }
            td { (job.task) }
            td.number { (job.forward_attempts) }
            td { (time::ago(now, job.quarantined_at)) }
            td.wide { (job.error) }
            td { @if !ctx.read_only { (form::button(ctx, &format!("/jobs/{id}/restage"), &[("back", "quarantine")], "Restage")) } }
        }
    }
}

/// Buttons for all jobs of each policy that has some.
fn all(ctx: &Ctx, jobs: &[QuarantinedJob]) -> Markup {
    let mut policies: Vec<&str> = jobs.iter().map(|job| job.policy.as_str()).collect();
    policies.sort_unstable();
    policies.dedup();
    html! {
        @for policy in policies {
            @let fields = [("policy", policy)];
            div.row {
                p { "All of " (form::policy(ctx, policy)) }
                div.actions {
                    (form::careful(ctx, &format!("restage-{policy}"), "/quarantine/restage", &fields, "Restage all", "All of them go back into staging."))
                    (form::careful(ctx, &format!("drop-{policy}"), "/quarantine/drop", &fields, "Drop all", "All of them are deleted for good."))
                }
            }
        }
    }
}
