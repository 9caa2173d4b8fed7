//! The `Link` header (RFC 8288), as far as paging needs it.

/// The target with `rel="next"`, unchecked.
#[must_use]
pub fn next(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>')?;
        let target = &rest[start + 1..end];
        let after = &rest[end + 1..];
        // Parameters end at a comma outside quotes.
        let mut quoted = false;
        let stop = after.find(|c| {
            quoted ^= c == '"';
            c == ',' && !quoted
        });
        let parameters = &after[..stop.unwrap_or(after.len())];
        if parameters.split(';').any(is_next) {
            return Some(target);
        }
        rest = stop.map_or("", |stop| &after[stop + 1..]);
    }
    None
}

fn is_next(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let relations = value.trim().trim_matches('"');
    name.trim().eq_ignore_ascii_case("rel")
        && relations.split_ascii_whitespace().any(|relation| relation.eq_ignore_ascii_case("next"))
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn the_next_page_is_found_among_the_others() {
        let four = "<https://a/?page=1>; rel=\"prev\", <https://a/?page=3&x=a,b>; rel=\"next\", <https://a/?page=9>; rel=\"last\"";
        assert_eq!(next(four), Some("https://a/?page=3&x=a,b"));
        assert_eq!(next("<u>; title=\"a, rel=next\"; REL=next"), Some("u"));
        assert_eq!(next("<u>; rel=\"last next\""), Some("u"));
        for none in
            ["", "<u>; rel=\"prev\"", "<u", "rel=next", "<u>; title=\"rel=next\"", "<u>; rel=\"nextish\""]
        {
            assert_eq!(next(none), None, "{none}");
        }
    }
}
