//! A document that GitHub sent: the right one, or why not.

use crate::json::{self, Json};

/// Checks that a body is the document of this id; its text as it came.
///
/// # Errors
/// What is wrong with it, for the record of the entity.
pub fn check(body: &[u8], id: i64) -> Result<String, String> {
    let text = std::str::from_utf8(body).map_err(|_| "malformed document: no UTF-8".to_owned())?;
    let document = json::parse(text).map_err(|error| format!("malformed document: {error}"))?;
    match document.get("id") {
        Some(Json::Number(told)) if *told == id.to_string() => Ok(text.to_owned()),
        Some(Json::Number(told)) => Err(format!("wrong document: its id is {told}")),
        _ => Err("malformed document: it has no id".to_owned()),
    }
}
