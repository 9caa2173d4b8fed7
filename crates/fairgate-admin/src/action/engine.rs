use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, Form};

use super::{Fields, Work, carry_out};
use crate::admin::Shared;
use crate::ctx::Ctx;
use crate::failure::Failure;

/// `POST /engine/{verb}`: enable, disable.
pub(crate) async fn engine(
    State(admin): State<Shared>,
    Extension(ctx): Extension<Ctx>,
    Path(verb): Path<String>,
    Form(fields): Fields,
) -> Result<Response, Failure> {
    let work = match verb.as_str() {
        "enable" => Work::SwitchEngine(true),
        "disable" => Work::SwitchEngine(false),
        other => return Err(Failure::not_found(format!("there is no operation {other:?}"))),
    };
    carry_out(admin, ctx, &fields, "/", Ok(work)).await
}
