use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Form};
use fairgate::PolicyName;

use super::{Fields, Work, carry_out};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;

/// `POST /policies/{name}/{verb}`: pause, resume, drain, enable, disable.
pub(crate) async fn policy(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Path((name, verb)): Path<(String, String)>,
    Form(fields): Fields,
) -> Result<Response, Failure> {
    let name: PolicyName = name.parse()?;
    let back = format!("/policies/{name}");
    let work = match verb.as_str() {
        "pause" => Work::Pause(name, None),
        "resume" => Work::Resume(name, None),
        "drain" => Work::Drain(name, None),
        "enable" => Work::SwitchPolicy(name, true),
        "disable" => Work::SwitchPolicy(name, false),
        other => return Err(Failure::not_found(format!("there is no operation {other:?}"))),
    };
    carry_out(admin, ctx, &fields, &back, Ok(work)).await
}
