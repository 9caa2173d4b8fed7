use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Form};
use fairgate::PolicyName;

use super::{Fields, Work, carry_out};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;

/// `POST /quarantine/{verb}` with field `policy`: restage or drop all of it.
pub(crate) async fn quarantine(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Path(verb): Path<String>,
    Form(fields): Fields,
) -> Result<Response, Failure> {
    let policy: PolicyName = fields.get("policy").map_or("", String::as_str).parse()?;
    let work = match verb.as_str() {
        "restage" => Work::RestageAll(policy),
        "drop" => Work::DropAll(policy),
        other => return Err(Failure::not_found(format!("there is no operation {other:?}"))),
    };
    carry_out(admin, ctx, &fields, "/quarantine", Ok(work)).await
}
