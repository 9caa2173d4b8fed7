//! Who may see the pages, and under which name their operations are written down.

use std::fmt;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Who may see the pages.
#[derive(Clone)]
pub enum Access {
    /// Whoever reaches them.
    Open,
    /// Who gives this password (HTTP basic authentication). The user name is free, and is what operations are written down under.
    Password(PasswordDigest),
    /// Whom a reverse proxy lets through: it puts the user's name into this header, and removes the header from what comes from outside.
    Header(String),
}

/// A password that is not kept.
#[derive(Clone, Copy)]
pub struct PasswordDigest([u8; 32]);

impl Access {
    /// Access by a password.
    #[must_use]
    pub fn password(password: &str) -> Self {
        Self::Password(PasswordDigest(Sha256::digest(password).into()))
    }

    /// Whether just anybody may.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    /// The name of who asks. None: they may not.
    pub(crate) fn who(&self, headers: &HeaderMap) -> Option<String> {
        let given = basic(headers);
        match self {
            Self::Open => Some(given.map_or_else(|| "admin page".to_owned(), |(user, _)| named(&user))),
            Self::Password(digest) => {
                let (user, password) = given?;
                same(&digest.0, &Sha256::digest(password).into()).then(|| named(&user))
            }
            Self::Header(name) => {
                let user = headers.get(name)?.to_str().ok()?.trim();
                (!user.is_empty()).then(|| user.to_owned())
            }
        }
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("Open"),
            Self::Password(_) => f.write_str("Password(..)"),
            Self::Header(name) => f.debug_tuple("Header").field(name).finish(),
        }
    }
}

impl fmt::Debug for PasswordDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordDigest(..)")
    }
}

fn named(user: &str) -> String {
    match user.trim() {
        "" => "admin page".to_owned(),
        user => user.to_owned(),
    }
}

/// User and password of HTTP basic authentication.
fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, code) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(code.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// Compares without telling by its time where the difference is.
pub(crate) fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}
