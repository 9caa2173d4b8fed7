//! What a handler knows about the request, and how it answers.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::response::{IntoResponse, Response};
use maud::Markup;

use crate::admin::Admin;
use crate::{cookie, csrf, view};

/// The request that is answered.
#[derive(Debug, Clone)]
pub(crate) struct Ctx {
    /// Where the router is mounted: `` or `/fairgate`.
    pub(crate) base: String,
    /// Who asks.
    pub(crate) who: String,
    /// The token for forms.
    pub(crate) token: String,
    /// The browser's cookie.
    pub(crate) browser: String,
    /// Whether the browser has it already.
    known: bool,
    /// What the last operation told.
    pub(crate) flash: Option<Flash>,
    pub(crate) read_only: bool,
}

/// What an operation told.
#[derive(Debug, Clone)]
pub(crate) struct Flash {
    pub(crate) good: bool,
    pub(crate) text: String,
}

impl Ctx {
    /// `base`: where the router is mounted, `who`: as the access says.
    pub(crate) fn new(admin: &Admin, request: &Request, base: String, who: String) -> Self {
        let headers = request.headers();
        let sent = cookie::get(headers, csrf::COOKIE).filter(|value| csrf::is_browser(value));
        let browser = sent.map_or_else(csrf::new_browser, str::to_owned);
        Self {
            base,
            who,
            token: admin.secret.token(&browser),
            browser,
            known: sent.is_some(),
            flash: flash(headers),
            read_only: admin.read_only,
        }
    }

    /// A link to one of our pages; `path` begins with a slash.
    pub(crate) fn to(&self, path: &str) -> String {
        // A nest answers at `/fairgate`, and not at `/fairgate/`.
        if path == "/" && !self.base.is_empty() { self.base.clone() } else { format!("{}{path}", self.base) }
    }

    /// A page. `at`: the entry of the menu that it belongs to.
    pub(crate) fn page(&self, title: &str, at: &str, body: &Markup) -> Response {
        let mut response = view::layout::page(self, title, at, body).into_response();
        let headers = response.headers_mut();
        let told = self.flash.as_ref().and_then(|_| cookie::set(cookie::FLASH, "", &self.base, Some(0)));
        let new = (!self.known).then(|| cookie::set(csrf::COOKIE, &self.browser, &self.base, None)).flatten();
        for value in [told, new].into_iter().flatten() {
            headers.append(SET_COOKIE, value);
        }
        response
    }

    /// On to another page, which tells how the operation went.
    pub(crate) fn go(&self, path: &str, flash: &Flash) -> Response {
        let mut response = StatusCode::SEE_OTHER.into_response();
        if let Ok(place) = self.to(path).parse() {
            response.headers_mut().insert(LOCATION, place);
        }
        let mark = if flash.good { "+" } else { "-" };
        let value = format!("{mark}{}", cookie::encode(&flash.text));
        if let Some(value) = cookie::set(cookie::FLASH, &value, &self.base, Some(60)) {
            response.headers_mut().append(SET_COOKIE, value);
        }
        response
    }
}

fn flash(headers: &HeaderMap) -> Option<Flash> {
    let value = cookie::get(headers, cookie::FLASH)?;
    let (good, text) = match value.split_at_checked(1)? {
        ("+", text) => (true, text),
        ("-", text) => (false, text),
        _ => return None,
    };
    Some(Flash { good, text: cookie::decode(text) })
}
