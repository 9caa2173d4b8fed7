//! Requests over the network: one connection each, no redirect followed, time and size bounded.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, HOST, HeaderMap, HeaderValue, IF_NONE_MATCH, USER_AGENT};
use hyper::{Request, Response, body::Incoming};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;

use super::{ApiRequest, ApiResponse, Headers, SendError, url_policy};

/// A page of a hundred events has about half a megabyte.
const MAX_BODY: usize = 16 * 1024 * 1024;
const AGENT: &str = concat!("pushfeed/", env!("CARGO_PKG_VERSION"));

/// A secret that nothing prints.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes it as it is.
    #[must_use]
    pub fn new(token: String) -> Self {
        Self(token)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// A client of the API.
#[derive(Debug)]
pub struct Live {
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
    token: Option<Token>,
    instead: Option<SocketAddr>,
    open_within: Duration,
    read_within: Duration,
}

impl Live {
    /// A client. `instead`: an address that plays GitHub over plain HTTP, for tests; no token goes there.
    #[must_use]
    pub fn new(
        token: Option<Token>,
        instead: Option<SocketAddr>,
        open_within: Duration,
        read_within: Duration,
    ) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_connect_timeout(Some(open_within));
        let https = hyper_rustls::HttpsConnectorBuilder::new()
            .with_webpki_roots()
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(https);
        Self { client, token, instead, open_within, read_within }
    }

    pub(super) async fn send(&self, request: &ApiRequest) -> Result<ApiResponse, SendError> {
        let within = self.open_within + self.read_within;
        let whole = async { read(self.client.request(self.build(request)?).await.map_err(connect)?).await };
        tokio::time::timeout(within, whole).await.unwrap_or(Err(SendError::TimedOut(within.as_secs())))
    }

    fn build(&self, request: &ApiRequest) -> Result<Request<Empty<Bytes>>, SendError> {
        let uri = match self.instead {
            Some(address) => format!("http://{address}{}", request.url.path()),
            None => request.url.to_string(),
        };
        let broken = |error: &dyn fmt::Display| SendError::Connect(error.to_string());
        let mut built = Request::get(uri)
            .header(HOST, url_policy::HOST)
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28")
            .body(Empty::new())
            .map_err(|error| broken(&error))?;
        if let Some(etag) = &request.etag {
            let value = HeaderValue::from_str(etag).map_err(|error| broken(&error))?;
            built.headers_mut().insert(IF_NONE_MATCH, value);
        }
        if let (Some(token), None) = (&self.token, self.instead) {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.0)).map_err(|_| {
                SendError::Connect("the token has characters that no header can have".to_owned())
            })?;
            value.set_sensitive(true);
            built.headers_mut().insert(AUTHORIZATION, value);
        }
        Ok(built)
    }
}

async fn read(response: Response<Incoming>) -> Result<ApiResponse, SendError> {
    let status = response.status().as_u16();
    let headers = readable(response.headers());
    let body = Limited::new(response.into_body(), MAX_BODY).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            SendError::TooLarge(MAX_BODY)
        } else {
            SendError::Broken(error.to_string())
        }
    })?;
    Ok(ApiResponse { status, headers, body: body.to_bytes().to_vec() })
}

fn readable(headers: &HeaderMap) -> Headers {
    headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}

fn connect(error: hyper_util::client::legacy::Error) -> SendError {
    let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
    if error.is_connect() { SendError::Connect(cause) } else { SendError::Broken(cause) }
}
