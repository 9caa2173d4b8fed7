//! Counting the statements that a connection of this thread carries out: one for each event of the driver.

use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

/// Listens on this thread until it is dropped; tests run on one thread each.
pub(crate) struct Statements {
    seen: Seen,
    _listening: DefaultGuard,
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Statements {
    pub(crate) fn listen() -> Self {
        let seen = Seen::default();
        Self { seen: seen.clone(), _listening: tracing::subscriber::set_default(seen) }
    }

    /// The beginnings of the statements since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.0.lock().expect("no panic while it was held"))
    }
}

impl Subscriber for Seen {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn event(&self, event: &Event<'_>) {
        let mut summary = Summary(String::new());
        event.record(&mut summary);
        self.0.lock().expect("no panic while it was held").push(summary.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Summary(String);

impl Visit for Summary {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "summary" {
            self.0 = value.to_owned();
        }
    }
    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
