//! Forms carry a token that another site cannot know: a digest of this process's secret and of a cookie of the browser.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::auth::same;

/// The cookie's name.
pub(crate) const COOKIE: &str = "fairgate_browser";
/// The field's name.
pub(crate) const FIELD: &str = "csrf";

/// Random for each process.
#[derive(Clone)]
pub(crate) struct Secret([u8; 32]);

impl Secret {
    pub(crate) fn new() -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(Uuid::new_v4().as_bytes());
        bytes[16..].copy_from_slice(Uuid::new_v4().as_bytes());
        Self(bytes)
    }

    /// The token of a browser.
    pub(crate) fn token(&self, browser: &str) -> String {
        self.digest(browser).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a form of that browser carries its token.
    pub(crate) fn fits(&self, browser: &str, token: &str) -> bool {
        let digest = |text: &str| -> [u8; 32] { Sha256::digest(text).into() };
        same(&digest(&self.token(browser)), &digest(token))
    }

    fn digest(&self, browser: &str) -> [u8; 32] {
        Sha256::new().chain_update(self.0).chain_update(browser).finalize().into()
    }
}

/// A new name for a browser.
pub(crate) fn new_browser() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Whether a cookie's value is such a name.
pub(crate) fn is_browser(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_fits_its_browser_and_its_process_only() {
        let (secret, browser) = (Secret::new(), new_browser());
        assert!(is_browser(&browser));
        let token = secret.token(&browser);
        assert!(secret.fits(&browser, &token));
        assert!(!secret.fits(&new_browser(), &token));
        assert!(!Secret::new().fits(&browser, &token));
        assert!(!secret.fits(&browser, ""));
    }
}
