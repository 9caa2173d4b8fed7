use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Form};
use fairgate::JobId;

use super::{Fields, Work, carry_out};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;

/// `POST /jobs/{id}/{verb}`: cancel, restage, drop.
pub(crate) async fn job(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Path((id, verb)): Path<(String, String)>,
    Form(fields): Fields,
) -> Result<Response, Failure> {
    let id: JobId = id.parse()?;
    let back = match fields.get("back").map(String::as_str) {
        Some("quarantine") => "/quarantine".to_owned(),
        _ => format!("/jobs/{id}"),
    };
    let work = match verb.as_str() {
        "cancel" => Work::Cancel(id),
        "restage" => Work::Restage(id),
        "drop" => Work::Drop(id),
        other => return Err(Failure::not_found(format!("there is no operation {other:?}"))),
    };
    carry_out(admin, ctx, &fields, &back, Ok(work)).await
}
