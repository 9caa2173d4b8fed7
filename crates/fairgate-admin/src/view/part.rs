//! Small parts that several pages have.

use fairgate::observe::PolicyStatus;
use fairgate_core::hint::{Hint, Severity};
use fairgate_core::reason::DenyReason;
use maud::{Markup, html};

use super::form;
use crate::ctx::Ctx;

/// A number with its name; `note` says more below.
pub(crate) fn tile(name: &str, value: &Markup, note: &Markup) -> Markup {
    html! { div.tile { dt { (name) } dd { span.big { (value) } span.note { (note) } } } }
}

/// A word with a colour and a shape: colour alone tells nothing.
pub(crate) fn badge(kind: &str, word: &str) -> Markup {
    html! { span class={ "badge " (kind) } { (word) } }
}

/// The first thing that keeps a policy from admitting.
pub(crate) fn state(policy: &PolicyStatus) -> Markup {
    if policy.retired {
        badge("off", "retired")
    } else if !policy.enabled {
        badge("warning", "disabled")
    } else if policy.paused {
        badge("warning", "paused")
    } else if !policy.queue_ready {
        badge("problem", "queue not ready")
    } else {
        badge("good", "admitting")
    }
}

/// A reason's words; the code is the title.
pub(crate) fn reason(code: &str) -> Markup {
    let (shadow, bare) = code.strip_prefix("shadow:").map_or((false, code), |bare| (true, bare));
    let label: &str = match DenyReason::from_code(bare) {
        Some(reason) => reason.label(),
        None => bare,
    };
    html! { span title=(code) { @if shadow { "shadow: " } (label) } }
}

/// Hints as a list.
pub(crate) fn hints(ctx: &Ctx, hints: &[Hint]) -> Markup {
    html! {
        @if hints.is_empty() {
            p.quiet { "Nothing needs you." }
        } @else {
            ul.hints {
                @for hint in hints {
                    li class=(severity(hint.severity)) data-code=(hint.code) {
                        (badge(severity(hint.severity), severity(hint.severity)))
                        div {
                            p.strong {
                                @if let Some(policy) = &hint.policy { (form::policy(ctx, policy)) ": " }
                                (hint.found)
                            }
                            p.quiet { (hint.advice) }
                        }
                    }
                }
            }
        }
    }
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Problem => "problem",
    }
}

/// A part of something as a bar.
pub(crate) fn bar(part: f64, title: &str) -> Markup {
    let width = format!("{:.1}", 100.0 * part.clamp(0.0, 1.0));
    html! {
        svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=(title) {
            title { (title) }
            rect.groove width="100" height="8" {}
            rect class=(if part >= 1.0 { "fill full" } else { "fill" }) width=(width) height="8" {}
        }
    }
}

/// A table that scrolls by itself where it is too wide.
pub(crate) fn table(caption: &str, head: &[(&str, bool)], rows: &[Markup]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Table: " (caption) } {
            table {
                caption.hidden { (caption) }
                thead { tr { @for (word, is_number) in head {
                    // A column without a name has no header to read out.
                    @if word.is_empty() { td {} } @else { th.number[*is_number] scope="col" { (word) } }
                } } }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}
