//! Share got beside share due.

use std::time::Duration;

use fairgate::observe::{Share, Shares};
use fairgate::{PolicyName, Settings};
use fairgate_core::definition::{Definition, HalfLife};
use maud::{Markup, html};

use crate::ctx::Ctx;
use crate::view::{form, number, part};

/// Partitions of the table.
const SHOWN: usize = 10;

/// How fast a policy forgets; none: not at all.
pub(crate) fn half_life(rules: Option<&Definition>, engine: &Settings) -> Option<Duration> {
    let half_life: HalfLife =
        rules.and_then(|rules| rules.fairness_half_life).unwrap_or(engine.fairness_half_life);
    half_life.duration()
}

pub(crate) fn section(ctx: &Ctx, policy: &PolicyName, shares: &Shares) -> Markup {
    html! {
        section aria-labelledby="fairness" {
            h2 #fairness { "Fairness" }
            @match shares.jain {
                None => p.card.quiet { "No partition with waiting jobs was admitted of late, so there is nothing to compare." },
                Some(jain) => {
                    p.card {
                        "Jain's index " strong { (format!("{jain:.2}")) } " over " (number::many(shares.shares.len() as i64, "partition", "partitions")) " in which jobs wait "
                        span.quiet { "(1 is perfectly even, by weight; gates of their own make partitions differ)" }
                        @if let Some(worst) = &shares.worst {
                            ". Least of its due: " (form::partition(ctx, policy.as_str(), &worst.key)) ", " (number::percent(worst.got)) " of " (number::percent(worst.due)) "."
                        }
                    }
                    (table(ctx, policy, &shares.shares))
                },
            }
        }
    }
}

fn table(ctx: &Ctx, policy: &PolicyName, shares: &[Share]) -> Markup {
    let rows: Vec<Markup> = shares
        .iter()
        .take(SHOWN)
        .map(|share| {
            let title = format!("got {}, due {}", number::percent(share.got), number::percent(share.due));
            html! {
                tr {
                    th scope="row" { (form::partition(ctx, policy.as_str(), &share.key)) }
                    td.number { (number::percent(share.got)) }
                    td.number { (number::percent(share.due)) }
                    td.meter { (part::bar(share.got.min(0.999), &title)) }
                }
            }
        })
        .collect();
    part::table("Shares", &[("partition", false), ("got", true), ("due", true), ("share got", false)], &rows)
}
