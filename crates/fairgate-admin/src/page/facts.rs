//! A list of names and values.

use maud::{Markup, html};

/// Names and values; those without a value are left out by the caller.
pub(crate) fn list(facts: &[(&str, Markup)]) -> Markup {
    html! { dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } } }
}
