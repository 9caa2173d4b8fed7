//! Logs as JSON lines on stderr: one line for each change of state. Bodies and secrets are never logged.

use fairgate::budget::Change;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What other crates may say unless LOG_LEVEL names them.
const QUIET: [&str; 3] = ["sqlx", "graphile_worker", "hyper"];

/// Starts logging. A second start changes nothing.
pub fn start(directives: &str) {
    let mut targets: Targets = directives.parse().unwrap_or_default();
    for name in QUIET {
        if !directives.contains(name) {
            targets = targets.with_target(name, tracing::Level::WARN);
        }
    }
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_writer(std::io::stderr)
        .with_target(false);
    let _ = tracing_subscriber::registry().with(lines).with(targets).try_init();
}

/// One line for each change of a budget.
pub fn changes(budget: &str, changes: &[Change]) {
    for change in changes {
        match change {
            Change::WindowRolled => tracing::info!(budget, "budget window rolled"),
            Change::WindowInitialized { limit, remaining, reset_at } => {
                tracing::info!(budget, limit, remaining, reset_at = %reset_at, "budget window initialized");
            }
            Change::ClassExhausted { class } => tracing::info!(budget, class, "budget class exhausted"),
            Change::ShareExhausted { member } => tracing::info!(budget, member, "budget share exhausted"),
            Change::Blocked(block) => {
                tracing::warn!(budget, until = %block.until, reason = block.reason.code(), "global block set");
            }
            Change::BlockCleared(block) => {
                tracing::info!(budget, reason = block.reason.code(), "global block cleared");
            }
            Change::WindowsInterleave { ours, told } => {
                tracing::warn!(budget, ours = %ours, told = %told, "two budget windows interleave; the worse is kept");
            }
        }
    }
}
