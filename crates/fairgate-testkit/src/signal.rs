//! Waiting for something to happen, instead of for some time to pass.

use std::time::Duration;

use tokio::sync::watch;

/// How long a signal may take before the test that waits for it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tells tasks of a test that something has happened, and how often. Clones share their count.
///
/// A signal fired before anybody waits is not lost.
#[derive(Debug, Clone)]
pub struct Signal {
    name: &'static str,
    count: watch::Sender<u64>,
}

impl Signal {
    /// A signal that has not been fired. The name says what it stands for: "the worker holds the job".
    pub fn new(name: &'static str) -> Self {
        Signal { name, count: watch::Sender::new(0) }
    }

    /// Says that it happened, once more.
    pub fn fire(&self) {
        self.count.send_modify(|count| *count += 1);
    }

    /// How often it has happened.
    pub fn count(&self) -> u64 {
        *self.count.borrow()
    }

    /// Waits until it has happened at least once.
    ///
    /// # Panics
    /// After 30 seconds, naming the signal.
    pub async fn wait(&self) {
        self.wait_for(1).await;
    }

    /// Waits until it has happened at least `count` times.
    ///
    /// # Panics
    /// After 30 seconds, naming the signal and its count.
    pub async fn wait_for(&self, count: u64) {
        self.wait_within(PATIENCE, count).await;
    }

    /// Waits until it has happened at least `count` times, no longer than `patience`.
    ///
    /// # Panics
    /// When the time is over, naming the signal and its count.
    pub async fn wait_within(&self, patience: Duration, count: u64) {
        let mut receiver = self.count.subscribe();
        let came = tokio::time::timeout(patience, receiver.wait_for(|seen| *seen >= count)).await;
        assert!(
            matches!(came, Ok(Ok(_))),
            "waited {patience:?} for signal `{}` to be fired {count} times; it was fired {} times",
            self.name,
            self.count()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_signal_fired_early_is_not_lost() {
        let signal = Signal::new("early");
        signal.fire();
        signal.wait().await;
    }

    #[tokio::test]
    async fn all_waiters_wake_at_their_count() {
        let signal = Signal::new("twice");
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let signal = signal.clone();
                tokio::spawn(async move { signal.wait_for(2).await })
            })
            .collect();
        signal.fire();
        signal.fire();
        for waiter in waiters {
            waiter.await.expect("woken");
        }
        assert_eq!(signal.count(), 2);
    }

    #[tokio::test]
    #[should_panic(expected = "signal `the job is done` to be fired 2 times; it was fired 1 times")]
    async fn a_signal_that_does_not_come_is_named() {
        let signal = Signal::new("the job is done");
        signal.fire();
        signal.wait_within(Duration::ZERO, 2).await;
    }
}
