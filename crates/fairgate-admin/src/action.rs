//! What the pages' buttons do: a checked request, a [`Work`], an entry in the trail, and back to a page that tells how it went.

mod engine;
mod input;
mod job;
mod partition;
mod policy;
mod quarantine;
mod work;

use std::collections::HashMap;

use axum::Form;
use axum::http::StatusCode;
use axum::response::Response;
use fairgate::audit;

use crate::admin::Shared;
use crate::csrf;
use crate::ctx::{Ctx, Flash};
use crate::failure::Failure;
use work::Work;

pub(crate) use engine::engine;
pub(crate) use job::job;
pub(crate) use partition::partition;
pub(crate) use policy::policy;
pub(crate) use quarantine::quarantine;

/// What a form sent.
pub(crate) type Fields = Form<HashMap<String, String>>;

/// Refuses what did not come from a form of ours, and everything while the pages are for reading only.
fn check(admin: &Shared, ctx: &Ctx, fields: &HashMap<String, String>) -> Result<(), Failure> {
    if ctx.read_only {
        return Err(Failure::new(StatusCode::FORBIDDEN, "these pages are for reading only")
            .hint("Whoever runs them gave --read-only; the `fairgate` command does the same operations."));
    }
    let token = fields.get(csrf::FIELD).map_or("", String::as_str);
    if !admin.secret.fits(&ctx.browser, token) {
        return Err(Failure::new(StatusCode::FORBIDDEN, "this form is not from a page of this process")
            .hint("Nothing was changed. Open the page again and repeat it; cookies must be allowed."));
    }
    Ok(())
}

/// Carries out what a form asks for, or tells what is wrong with it. `back` is the page to tell it on.
async fn carry_out(
    admin: Shared,
    ctx: Ctx,
    fields: &HashMap<String, String>,
    back: &str,
    work: Result<Work, String>,
) -> Result<Response, Failure> {
    check(&admin, &ctx, fields)?;
    let flash = match work {
        Ok(work) => {
            let who = ctx.who.clone();
            // A task of its own: who closes the browser does not break off what has begun.
            let done = tokio::spawn(async move { begin(&admin, &who, work).await }).await;
            done.map_err(|_| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "the operation broke off"))??
        }
        Err(text) => Flash { good: false, text },
    };
    Ok(ctx.go(back, &flash))
}

async fn begin(admin: &Shared, who: &str, work: Work) -> Result<Flash, Failure> {
    let mut conn = admin.connection().await?;
    let operation = work.operation();
    let entry = audit::begin(&mut conn, who, &operation).await?;
    let outcome = work.run(&admin.means, &mut conn).await;
    tracing::info!(
        who,
        action = operation.action,
        succeeded = outcome.is_ok(),
        "an operation from the admin pages"
    );
    let words = outcome.as_ref().map_err(|failure| failure.message.as_str());
    audit::finish(&mut conn, entry, words).await?;
    Ok(match outcome {
        Ok(text) => Flash { good: true, text },
        Err(failure) => {
            let hint = failure.hint.map(|hint| format!(". {hint}")).unwrap_or_default();
            Flash { good: false, text: format!("{}{hint}", failure.message) }
        }
    })
}
