use super::QueueError;

/// Whether a text is one expression: nothing ends it early. It may still be wrong SQL, which the database says.
pub(crate) fn check(text: &str) -> Result<(), QueueError> {
    let refuse = |why: &str| Err(QueueError::Expression { text: text.to_owned(), why: why.to_owned() });
    if text.trim().is_empty() {
        return refuse("it is empty");
    }
    let mut depth = 0_usize;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().copied()) {
            // A doubled quote inside ends one text and begins the next, which comes to the same.
            ('\'' | '"', _) if !rest.any(|other| other == c) => return refuse("a quote is not closed"),
            ('\'' | '"', _) => {}
            ('(', _) => depth += 1,
            (')', _) if depth == 0 => return refuse("a parenthesis is closed that was not opened"),
            (')', _) => depth -= 1,
            (';', _) => return refuse("it has a semicolon"),
            ('-', Some('-')) | ('/', Some('*')) => return refuse("it has a comment"),
            ('$', Some(next)) if next == '$' || next.is_alphanumeric() => {
                return refuse("it has a $, which quotes or numbers a parameter");
            }
            ('{' | '}', _) => return refuse("it has a brace; compare text through -> and ->> instead"),
            _ => {}
        }
    }
    if depth > 0 { refuse("a parenthesis is not closed") } else { Ok(()) }
}
