//! Names and URLs of databases.

use uuid::Uuid;

/// PostgreSQL cuts names off after 63 bytes.
const LONGEST: usize = 63;

/// A name that nobody uses, with the test's own name in it where the thread has it.
pub(super) fn test_database() -> String {
    let id = Uuid::new_v4().simple().to_string();
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default().rsplit("::").next().unwrap_or_default();
    database("fairgate_test", &id[..12], test)
}

/// `prefix_id_rest` in characters that need no quotes, cut to length.
fn database(prefix: &str, id: &str, rest: &str) -> String {
    let rest: String =
        rest.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let mut name = format!("{prefix}_{id}_{rest}");
    name.truncate(LONGEST);
    name
}

/// The URL with another database in it; its other parts stay as they are.
pub(super) fn with_database(url: &str, database: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{database}{query}", &address[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_needs_no_quotes() {
        let name = database("p", "0123", &"A test's näme".repeat(10));
        assert_eq!(name.len(), LONGEST);
        assert!(name.starts_with("p_0123_a_test_s_n_me"), "{name}");
    }

    #[test]
    fn only_the_database_of_a_url_changes() {
        let socket = "postgres://u@localhost:5432/postgres?host=/tmp/s&sslmode=disable";
        assert_eq!(with_database(socket, "x"), "postgres://u@localhost:5432/x?host=/tmp/s&sslmode=disable");
        assert_eq!(with_database("postgres://u:p@h:1/a", "x"), "postgres://u:p@h:1/x");
        assert_eq!(with_database("postgres://h", "x"), "postgres://h/x");
    }
}
