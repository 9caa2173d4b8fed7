//! Counting the statements that this thread's connections carry out: one for each event of the driver.

use std::cell::RefCell;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

thread_local! {
    static SEEN: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Listens on this thread until it is dropped; tests run on one thread each.
pub(crate) struct Statements;

impl Statements {
    pub(crate) fn listen() -> Self {
        // One for the whole process: subscribers that come and go make others miss events.
        static INSTALLED: Once = Once::new();
        INSTALLED
            .call_once(|| tracing::subscriber::set_global_default(Driver).expect("no other is installed"));
        SEEN.set(Some(Vec::new()));
        Self
    }

    /// The beginnings of the statements since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        SEEN.replace(Some(Vec::new())).unwrap_or_default()
    }
}

impl Drop for Statements {
    fn drop(&mut self) {
        SEEN.set(None);
    }
}

/// Hears the driver's events on every thread and notes them where somebody listens.
struct Driver;

impl Subscriber for Driver {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn event(&self, event: &Event<'_>) {
        SEEN.with_borrow_mut(|seen| {
            if let Some(seen) = seen {
                let mut summary = Summary(String::new());
                event.record(&mut summary);
                seen.push(summary.0);
            }
        });
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
