//! Connection URLs that every driver understands.

use std::path::Path;

/// Where the server listens, as a URL needs it.
pub(crate) enum Address<'a> {
    /// A folder with a socket; the port is part of the socket's name.
    Socket { dir: &'a Path, port: u16 },
    /// 127.0.0.1.
    Tcp { port: u16, password: &'a str },
}

/// The URL of a database, for the superuser `fairgate`.
pub(crate) fn url(address: &Address<'_>, database: &str) -> String {
    let database = encode(database.as_bytes(), false);
    match address {
        Address::Socket { dir, port } => {
            let dir = encode(dir.as_os_str().as_encoded_bytes(), true);
            format!("postgres://fairgate@localhost:{port}/{database}?host={dir}")
        }
        Address::Tcp { port, password } => {
            format!("postgres://fairgate:{password}@127.0.0.1:{port}/{database}")
        }
    }
}

/// Percent-encodes all but unreserved characters; slashes stay readable where they may stand.
fn encode(bytes: &[u8], keep_slash: bool) -> String {
    bytes
        .iter()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(*byte).to_string()
            }
            b'/' if keep_slash => "/".to_owned(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_url_names_the_folder_in_its_query() {
        let address = Address::Socket { dir: Path::new("/tmp/a b/s"), port: 5432 };
        assert_eq!(url(&address, "jobs"), "postgres://fairgate@localhost:5432/jobs?host=/tmp/a%20b/s");
    }

    #[test]
    fn a_tcp_url_carries_the_password_and_an_encoded_name() {
        let address = Address::Tcp { port: 4711, password: "0f" };
        assert_eq!(url(&address, "my/db"), "postgres://fairgate:0f@127.0.0.1:4711/my%2Fdb");
    }
}
