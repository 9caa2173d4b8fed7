//! Serving the pages by themselves.

use std::future::Future;
use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::admin::Admin;

/// Why the pages are not served.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Others than this machine could reach them, and nothing asks who they are.
    #[error("the admin pages would be open to everybody who reaches {address}")]
    Unprotected {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be had.
    #[error("the admin pages cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
}

/// An address that is listened on.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
    admin: Admin,
}

/// Listens. An address that others than this machine can reach needs an [`Access`](crate::Access) that asks who they are, or `open`. On a loopback
/// address without one, requests must name this machine as their host.
///
/// # Errors
/// See [`BindError`].
pub async fn bind(admin: Admin, address: SocketAddr, open: bool) -> Result<Listening, BindError> {
    if admin.access.is_open() && !address.ip().is_loopback() && !open {
        return Err(BindError::Unprotected { address });
    }
    let failed = |source| BindError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let local_only = admin.access.is_open() && address.ip().is_loopback() && !open;
    Ok(Listening { listener, address, admin: admin.local_only(local_only) })
}

impl Listening {
    /// Where they are, as an URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until `stop` is ready and what had begun is answered.
    ///
    /// # Errors
    /// When the listener fails for good.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
        axum::serve(self.listener, self.admin.router()).with_graceful_shutdown(stop).await
    }
}
