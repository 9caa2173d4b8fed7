//! The one way to the network.

use std::future::Future;

use fairgate_core::budget::Receipt;

use super::Reservation;

/// What reaches the API. It cannot be called but by [`request()`], which alone can make the [`Permit`].
///
/// ```compile_fail
/// let permit = fairgate::budget::Permit(());
/// ```
pub trait Transport: Sync {
    /// What is sent.
    type Request: Send;
    /// What comes back.
    type Response: Send;
    /// Why nothing came back.
    type Error: Send;

    /// Sends one request, once: a redirect or another attempt needs a reservation of its own.
    fn send(
        &self,
        permit: Permit,
        request: Self::Request,
    ) -> impl Future<Output = Result<Self::Response, Self::Error>> + Send;
}

/// Proof that a debit has been committed for this request.
#[derive(Debug)]
pub struct Permit(());

/// A debit whose request was sent: what [`Budget::reconcile`](super::Budget::reconcile) takes, once.
#[derive(Debug)]
#[must_use = "reconcile it, so that the budget learns what the server told"]
pub struct Spent(pub(super) Receipt);

/// How a request ended.
#[derive(Debug)]
pub struct Sent<R, E> {
    /// Its debit.
    pub spent: Spent,
    /// The response, or why there is none.
    pub result: Result<R, E>,
}

/// Sends one request. No transaction is open meanwhile: reserving in one is refused, and this takes no connection.
///
/// ```compile_fail
/// # async fn twice(reservation: fairgate::budget::Reservation, door: impl fairgate::budget::Transport<Request = ()>) {
/// fairgate::budget::request(reservation, &door, ()).await;
/// fairgate::budget::request(reservation, &door, ()).await;
/// # }
/// ```
pub async fn request<T: Transport>(
    reservation: Reservation,
    transport: &T,
    request: T::Request,
) -> Sent<T::Response, T::Error> {
    let spent = Spent(reservation.receipt);
    let result = transport.send(Permit(()), request).await;
    Sent { spent, result }
}
