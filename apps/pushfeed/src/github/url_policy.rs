//! Which addresses may be asked: GitHub's API and nothing else.

use std::fmt;

/// The only host.
pub const HOST: &str = "api.github.com";
const SCHEME: &str = "https://";
/// Longer ones are nobody's.
const MAX_BYTES: usize = 2048;

/// An address that was checked and put together again from its parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApiUrl {
    /// Path and query, beginning with a slash.
    path: String,
}

/// Why an address is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// It has a control character, a blank, a backslash, or another one that no address of GitHub has.
    #[error("the address has a character that no address of the API has")]
    Character,
    /// It is not https.
    #[error("the address does not begin with {SCHEME}")]
    Scheme,
    /// It has user information.
    #[error("the address has user information")]
    UserInfo,
    /// It is another host, or one that looks like it.
    #[error("the address is not of host {HOST}")]
    Host,
    /// It is another port.
    #[error("the address has a port other than 443")]
    Port,
    /// It is too long.
    #[error("the address has more than {MAX_BYTES} bytes")]
    TooLong,
}

impl ApiUrl {
    /// Checks an address that somebody else wrote.
    ///
    /// # Errors
    /// See [`UrlRefusal`].
    pub fn parse(text: &str) -> Result<Self, UrlRefusal> {
        if text.len() > MAX_BYTES {
            return Err(UrlRefusal::TooLong);
        }
        if !text.bytes().all(allowed) {
            return Err(UrlRefusal::Character);
        }
        let rest = text.strip_prefix(SCHEME).ok_or(UrlRefusal::Scheme)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(UrlRefusal::UserInfo);
        }
        match authority.strip_prefix(HOST) {
            Some("" | ":443") => {}
            Some(port) if port.starts_with(':') => return Err(UrlRefusal::Port),
            _ => return Err(UrlRefusal::Host),
        }
        let path = path.split('#').next().unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self { path: format!("{slash}{path}") })
    }

    /// Checks a `Location`: an address, or a path on the same host.
    ///
    /// # Errors
    /// See [`UrlRefusal`].
    pub fn redirect(location: &str) -> Result<Self, UrlRefusal> {
        if location.starts_with('/') && !location.starts_with("//") {
            return Self::parse(&format!("{SCHEME}{HOST}{location}"));
        }
        Self::parse(location)
    }

    /// An address of ours.
    #[must_use]
    pub fn of_path(path: &'static str) -> Self {
        Self { path: path.to_owned() }
    }

    /// Path and query.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for ApiUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{HOST}{}", self.path)
    }
}

/// Visible ASCII that an address may have unescaped.
fn allowed(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_api_are_put_together_from_their_parts() {
        for (text, path) in [
            ("https://api.github.com/users/a%5Bbot%5D", "/users/a%5Bbot%5D"),
            ("https://api.github.com:443/repos/a/b?x=1&y=2", "/repos/a/b?x=1&y=2"),
            ("https://api.github.com", "/"),
            ("https://api.github.com?x=1", "/?x=1"),
            ("https://api.github.com/a#b", "/a"),
        ] {
            assert_eq!(ApiUrl::parse(text).unwrap().path(), path);
        }
        assert_eq!(
            ApiUrl::redirect("/repositories/7").unwrap().to_string(),
            "https://api.github.com/repositories/7"
        );
    }

    #[test]
    fn statement_37_other_hosts_ports_users_and_look_alikes_are_refused() {
        use UrlRefusal::{Character, Host, Port, Scheme, UserInfo};
        for (text, why) in [
            ("http://api.github.com/a", Scheme),
            ("HTTPS://api.github.com/a", Scheme),
            ("ftp://api.github.com/a", Scheme),
            ("//api.github.com/a", Scheme),
            ("", Scheme),
            ("https://github.com/a", Host),
            ("https://api.github.com.example.org/a", Host),
            ("https://API.GITHUB.COM/a", Host),
            ("https://api.github.com./a", Host),
            ("https://140.82.121.6/a", Host),
            ("https://[::1]/a", Host),
            ("https://example.org#@api.github.com/a", Host),
            ("https://api.github.com@example.org/a", UserInfo),
            ("https://me:secret@api.github.com/a", UserInfo),
            ("https://api.github.com:8443/a", Port),
            ("https://api.github.com:/a", Port),
            ("https://api.github.com:0443/a", Port),
            ("https://api.github.com\\@example.org/a", Character),
            ("https://api.github.com/a\r\nHost: example.org", Character),
            ("https://api.github.com/a b", Character),
            ("https://api.github.com/\u{0}", Character),
            ("https://\u{430}pi.github.com/a", Character),
            ("https://api.github.com/\u{202e}a", Character),
        ] {
            assert_eq!(ApiUrl::parse(text), Err(why), "{text:?}");
        }
        assert_eq!(ApiUrl::redirect("//example.org/a"), Err(Scheme));
        assert_eq!(ApiUrl::redirect("/\\example.org/a"), Err(Character));
        assert!(ApiUrl::parse(&format!("https://api.github.com/{}", "a".repeat(3000))).is_err());
    }
}
