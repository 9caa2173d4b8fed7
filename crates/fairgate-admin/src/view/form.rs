//! Forms and links. Every form that changes something carries the browser's token.

use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::csrf;
use crate::ctx::Ctx;

/// What a value in a query keeps as it is.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');

/// A value for a query.
pub(crate) fn encoded(value: &str) -> String {
    utf8_percent_encode(value, KEPT).to_string()
}

/// A link to one of our pages.
pub(crate) fn link(ctx: &Ctx, path: &str, text: &str) -> Markup {
    html! { a href=(ctx.to(path)) { (text) } }
}

/// The address of a partition's page.
pub(crate) fn partition_path(policy: &str, key: &str) -> String {
    format!("/partitions/{policy}?key={}", encoded(key))
}

/// A link to a partition.
pub(crate) fn partition(ctx: &Ctx, policy: &str, key: &str) -> Markup {
    html! { a.key href=(ctx.to(&partition_path(policy, key))) { (key) } }
}

/// A link to a policy.
pub(crate) fn policy(ctx: &Ctx, name: &str) -> Markup {
    link(ctx, &format!("/policies/{name}"), name)
}

/// A link to a job.
pub(crate) fn job(ctx: &Ctx, id: &str) -> Markup {
    html! { a.mono href=(ctx.to(&format!("/jobs/{id}"))) { (id) } }
}

/// A form that posts to `path` with hidden `fields`.
pub(crate) fn post(ctx: &Ctx, path: &str, fields: &[(&str, &str)], inner: &Markup) -> Markup {
    html! {
        form.act method="post" action=(ctx.to(path)) {
            input type="hidden" name=(csrf::FIELD) value=(ctx.token);
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            (inner)
        }
    }
}

/// A button alone in its form.
pub(crate) fn button(ctx: &Ctx, path: &str, fields: &[(&str, &str)], word: &str) -> Markup {
    post(ctx, path, fields, &html! { button type="submit" { (word) } })
}

/// A button behind a word that opens it, because what it does is not taken back.
pub(crate) fn careful(
    ctx: &Ctx,
    id: &str,
    path: &str,
    fields: &[(&str, &str)],
    word: &str,
    warning: &str,
) -> Markup {
    html! {
        details.careful id=(id) {
            summary { (word) "…" }
            div.drop {
                p { (warning) }
                (post(ctx, path, fields, &html! { button.danger type="submit" { (word) } }))
            }
        }
    }
}
