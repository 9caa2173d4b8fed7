//! `/audit`: what operators did.

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use fairgate::audit::{self, Entry};
use fairgate::{PolicyName, observe};
use maud::{Markup, html};

use super::{Asked, given};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view::{form, part, time};

/// Entries of a page.
const ROWS: u32 = 50;

pub(crate) async fn audit(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Query(asked): Asked,
) -> Result<Response, Failure> {
    let policy: Option<PolicyName> = given(&asked, "policy").map(str::parse).transpose()?;
    let before: Option<i64> = given(&asked, "before").and_then(|id| id.parse().ok());
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let entries = audit::list(&mut tx, policy.as_ref(), None, before, ROWS).await?;
    let now = observe::now(&mut tx).await?;
    drop(tx);
    let next = entries.last().filter(|_| entries.len() == ROWS as usize).map(|entry| entry.id);
    let of = policy.as_ref().map(|policy| format!("policy={policy}&")).unwrap_or_default();
    let body = html! {
        h1 { "Trail" @if let Some(policy) = &policy { " of " (policy) } }
        p.quiet { "What operators did on these pages: who, when, what, and how it ended." }
        @if entries.is_empty() { p.card { "Nothing yet." } } @else { (table(&ctx, &entries, now)) }
        nav.pages aria-label="Pages of the list" {
            @if let Some(next) = next { (form::link(&ctx, &format!("/audit?{of}before={next}"), "older »")) }
        }
    };
    Ok(ctx.page("Trail", "/audit", &body))
}

/// Entries of the trail.
pub(crate) fn table(ctx: &Ctx, entries: &[Entry], now: DateTime<Utc>) -> Markup {
    let rows: Vec<Markup> = entries.iter().map(|entry| row(ctx, entry, now)).collect();
    let head = [("when", false), ("who", false), ("what", false), ("where", false), ("outcome", false)];
    part::table("What operators did", &head, &rows)
}

fn row(ctx: &Ctx, entry: &Entry, now: DateTime<Utc>) -> Markup {
    let (kind, word) = match entry.succeeded {
        Some(true) => ("good", "done"),
        Some(false) => ("problem", "failed"),
        None => ("warning", "not ended"),
    };
    html! {
        tr {
            td { (time::ago(now, entry.at)) }
            td { (entry.who) }
            td { strong { (entry.action) } @if let Some(detail) = &entry.detail { " " span.quiet { (detail) } } }
            td {
                @match (&entry.policy, &entry.partition_key, &entry.job_id) {
                    (Some(policy), Some(key), _) => { (form::policy(ctx, policy)) " / " (form::partition(ctx, policy, key)) },
                    (Some(policy), None, _) => (form::policy(ctx, policy)),
                    (None, _, Some(job)) => (form::job(ctx, &job.to_string())),
                    (None, _, None) => "everything",
                }
            }
            td.wide { (part::badge(kind, word)) " " (entry.outcome.as_deref().unwrap_or("")) }
        }
    }
}
