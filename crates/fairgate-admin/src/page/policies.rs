//! `/policies`: all of them with their rules.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use fairgate::observe::{self, PolicyStatus};
use fairgate_core::definition::Definition;
use maud::{Markup, html};

use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view::{definition, form, number, part};

pub(crate) async fn policies(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
) -> Result<Response, Failure> {
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let policies = observe::policies(&mut tx).await?;
    drop(tx);
    let body = html! {
        h1 { "Policies" }
        @if policies.is_empty() {
            p.card { "No policy is registered; " code { "fairgate apply" } " registers those of fairgate.toml." }
        }
        div.cards { @for policy in &policies { (card(&ctx, policy)) } }
    };
    Ok(ctx.page("Policies", "/policies", &body))
}

fn card(ctx: &Ctx, policy: &PolicyStatus) -> Markup {
    let rules: Option<Definition> = serde_json::from_value(policy.definition.clone()).ok();
    html! {
        article.card #{ "policy-" (policy.name) } {
            div.row { h2 { (form::policy(ctx, &policy.name)) } (part::state(policy)) }
            p {
                strong { (number::count(policy.pending)) } " waiting, " strong { (number::count(policy.in_flight)) } " in flight, "
                strong { (number::count(policy.admitted_last_minute)) } " admitted in the last minute"
            }
            @match rules {
                Some(rules) => {
                    p.quiet { "a partition is " code { (definition::partition_by(&rules)) } ", to queue " (policy.queue) ", fairness " (definition::fairness(&rules)) ", revision " (policy.revision) }
                    (definition::gates(&rules))
                },
                None => p.quiet { "Its rules were written by a newer version." },
            }
            p { (form::link(ctx, &format!("/partitions/{}", policy.name), &number::many(policy.partitions, "partition", "partitions"))) }
        }
    }
}
