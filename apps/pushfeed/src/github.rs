//! GitHub as it is seen from here: addresses that may be asked, requests, responses, and what a response means.

pub mod classify;
pub mod door;
pub mod fixture;
pub mod headers;
pub mod link;
pub mod live;
pub mod url_policy;

pub use classify::{Classified, Kind, classify};
pub use door::{Door, SendError};
pub use headers::Headers;
pub use url_policy::{ApiUrl, UrlRefusal};

/// One request. Everything is a GET.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    /// Where to.
    pub url: ApiUrl,
    /// The validator of the answer that is known, back verbatim.
    pub etag: Option<String>,
}

/// One response, whole.
#[derive(Debug, Clone)]
pub struct ApiResponse {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Headers,
    /// Its body.
    pub body: Vec<u8>,
}
