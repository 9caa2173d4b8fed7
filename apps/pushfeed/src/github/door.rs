//! The way to GitHub: live, or files that answer in its place.

use fairgate::budget::{Permit, Transport};

use super::fixture::Fixture;
use super::live::Live;
use super::{ApiRequest, ApiResponse};

/// Where requests go.
#[derive(Debug)]
pub enum Door {
    /// To GitHub.
    Live(Live),
    /// To files.
    Fixture(Fixture),
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// No connection.
    #[error("no connection: {0}")]
    Connect(String),
    /// It took too long.
    #[error("no whole answer within {0} s")]
    TimedOut(u64),
    /// It broke off, or is no HTTP.
    #[error("the answer broke off: {0}")]
    Broken(String),
    /// It is larger than anything that GitHub sends here.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// The files have no answer to this address, and the network is not asked instead.
    #[error("no fixture answers {0}; add it to the scenario")]
    NoFixture(String),
}

impl Transport for Door {
    type Request = ApiRequest;
    type Response = ApiResponse;
    type Error = SendError;

    async fn send(&self, _: Permit, request: ApiRequest) -> Result<ApiResponse, SendError> {
        match self {
            Self::Live(live) => live.send(&request).await,
            Self::Fixture(fixture) => fixture.answer(&request),
        }
    }
}
