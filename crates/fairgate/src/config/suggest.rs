//! What somebody may have meant.

/// The known word that is most like a mistyped one, if one is like enough.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let least_alike = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= least_alike)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean "fairness"?`, else the known words after `otherwise`.
pub(super) fn hint(word: &str, known: &[&str], otherwise: &str) -> String {
    match nearest(word, known.iter().copied()) {
        Some(candidate) => format!("; did you mean \"{candidate}\"?"),
        None => format!("; {otherwise} {}", known.join(", ")),
    }
}
