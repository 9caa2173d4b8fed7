use std::collections::HashMap;

use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Form};
use fairgate::overrides::{NewOverride, OverrideError, Target};
use fairgate::{PartitionKey, PolicyName};

use super::{Fields, Work, carry_out, input};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;
use crate::view::form::partition_path;

/// `POST /partitions/{policy}/{verb}` with field `key`: pause, resume, drain, admit, override, clear-override.
pub(crate) async fn partition(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Path((policy, verb)): Path<(String, String)>,
    Form(fields): Fields,
) -> Result<Response, Failure> {
    let policy: PolicyName = policy.parse()?;
    let key: PartitionKey = fields.get("key").map_or("", String::as_str).parse()?;
    let back = partition_path(policy.as_str(), key.as_str());
    let work = match verb.as_str() {
        "pause" => Ok(Work::Pause(policy, Some(key))),
        "resume" => Ok(Work::Resume(policy, Some(key))),
        "drain" => Ok(Work::Drain(policy, Some(key))),
        "admit" => input::whole(&fields, "count", 1, 100_000).map(|count| Work::Admit(policy, key, count)),
        "override" => new_override(&fields, &ctx.who).map(|new| Work::Override(policy, key, new)),
        "clear-override" => target(&fields).map(|target| Work::ClearOverride(policy, key, target)),
        other => return Err(Failure::not_found(format!("there is no operation {other:?}"))),
    };
    carry_out(admin, ctx, &fields, &back, work).await
}

fn target(fields: &HashMap<String, String>) -> Result<Target, String> {
    input::text(fields, "target")?.parse().map_err(|error: OverrideError| error.to_string())
}

fn new_override(fields: &HashMap<String, String>, who: &str) -> Result<NewOverride, String> {
    Ok(NewOverride {
        target: target(fields)?,
        value: input::number(fields, "value")?,
        lasts: input::duration(fields, "lasts")?,
        reason: input::text(fields, "reason")?.to_owned(),
        who: Some(who.to_owned()),
    })
}
