//! Which kind goes next, and whether it borrows. Pure.

use fairgate::budget::Borrow;

use super::Kind;

/// A pool of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// Never enriched.
    New,
    /// Enriched, and no longer fresh.
    Stale,
}

/// What there is to do for a kind, and what it has spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// A candidate that was never enriched may be claimed now.
    pub new: bool,
    /// A candidate that is no longer fresh may be claimed now.
    pub stale: bool,
    /// Something was never enriched, be it claimable or not.
    pub unenriched: bool,
    /// Requests spent in this window.
    pub used: u32,
    /// Requests that may be spent without borrowing.
    pub guarantee: u32,
}

/// What goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Its kind.
    pub kind: Kind,
    /// From which pool.
    pub pool: Pool,
    /// Whether it may go past its guarantee.
    pub borrow: Borrow,
}

/// Chooses. `only`: no other kind is wanted, though the other's candidates still count against borrowing.
///
/// First a kind within its guarantee: the one that has spent the smaller part of it, actors on a tie. Then one past it, borrowing, if the other has no
/// candidate. Then the same two steps among what is stale, unless anything was never enriched. Where every candidate is past its guarantee and may not
/// borrow, the first is named all the same: the budget says why it may not go.
#[must_use]
pub fn choose(facts: [Facts; 2], only: Option<Kind>) -> Option<Choice> {
    let unenriched = facts.iter().any(|facts| facts.unenriched || facts.new);
    match from_pool(facts, Pool::New, only) {
        Some(choice) => Some(choice),
        None if unenriched => None,
        None => from_pool(facts, Pool::Stale, only),
    }
}

fn from_pool(facts: [Facts; 2], pool: Pool, only: Option<Kind>) -> Option<Choice> {
    let has = |kind: Kind| match pool {
        Pool::New => facts[kind.index()].new,
        Pool::Stale => facts[kind.index()].stale,
    };
    let inside = |kind: &Kind| facts[kind.index()].used < facts[kind.index()].guarantee;
    let candidates: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| has(*kind) && only.is_none_or(|only| only == *kind)).collect();
    let part = |kind: &Kind| {
        let Facts { used, guarantee, .. } = facts[kind.index()];
        // Parts with one denominator: used of one times guarantee of the other.
        u64::from(used) * u64::from(facts[kind.other().index()].guarantee.max(1)) * u64::from(guarantee > 0)
    };
    if let Some(kind) = candidates.iter().copied().filter(inside).min_by_key(part) {
        return Some(Choice { kind, pool, borrow: Borrow::No });
    }
    let lonely = candidates.iter().copied().find(|kind| !has(kind.other()));
    let borrowed = lonely.map(|kind| Choice { kind, pool, borrow: Borrow::OthersHaveNoWork });
    borrowed.or_else(|| candidates.first().map(|kind| Choice { kind: *kind, pool, borrow: Borrow::No }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(new: [bool; 2], stale: [bool; 2], used: [u32; 2]) -> [Facts; 2] {
        [0, 1].map(|n| Facts {
            new: new[n],
            stale: stale[n],
            unenriched: new[n],
            used: used[n],
            guarantee: 20,
        })
    }

    fn chosen(facts: [Facts; 2]) -> Option<(Kind, Pool, Borrow)> {
        choose(facts, None).map(|choice| (choice.kind, choice.pool, choice.borrow))
    }

    const NONE: [bool; 2] = [false, false];
    const BOTH: [bool; 2] = [true, true];

    #[test]
    fn statement_30_guaranteed_first_then_borrowed_then_stale() {
        use Borrow::{No, OthersHaveNoWork};
        use Kind::{Actor, Repository};
        use Pool::{New, Stale};
        assert_eq!(chosen(facts(BOTH, BOTH, [0, 0])), Some((Actor, New, No)));
        assert_eq!(chosen(facts(BOTH, BOTH, [1, 0])), Some((Repository, New, No)));
        assert_eq!(chosen(facts(BOTH, NONE, [20, 19])), Some((Repository, New, No)));
        assert_eq!(chosen(facts([true, false], BOTH, [20, 0])), Some((Actor, New, OthersHaveNoWork)));
        assert_eq!(chosen(facts([false, true], BOTH, [0, 20])), Some((Repository, New, OthersHaveNoWork)));
        assert_eq!(chosen(facts(BOTH, NONE, [20, 20])), Some((Actor, New, No)), "the budget says why not");
        assert_eq!(chosen(facts(NONE, BOTH, [3, 2])), Some((Repository, Stale, No)));
        assert_eq!(chosen(facts(NONE, [true, false], [20, 0])), Some((Actor, Stale, OthersHaveNoWork)));
        assert_eq!(chosen(facts(NONE, NONE, [0, 0])), None);
    }

    #[test]
    fn statement_30_nothing_is_refreshed_while_anything_was_never_enriched() {
        let mut leased = facts(NONE, BOTH, [0, 0]);
        leased[1].unenriched = true;
        assert_eq!(chosen(leased), None);
    }

    #[test]
    fn statement_23_a_wish_for_one_kind_does_not_hide_the_others_candidates() {
        let choice = choose(facts(BOTH, NONE, [20, 0]), Some(Kind::Actor)).unwrap();
        assert_eq!((choice.kind, choice.borrow), (Kind::Actor, Borrow::No));
        assert_eq!(choose(facts([false, true], NONE, [0, 0]), Some(Kind::Actor)), None);
    }
}
