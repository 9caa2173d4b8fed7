//! The configuration file, read and turned into what the registry takes.

use std::path::Path;
use std::sync::Arc;

use fairgate::config::{Config, QueueConfig};
use fairgate::queue;
use fairgate::registry::QueueSpec;

use crate::error::CliError;
use crate::output;

/// The text of the file.
pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| {
        let refusal = CliError::usage(format!("cannot read {}: {error}", path.display()));
        match error.kind() {
            std::io::ErrorKind::NotFound => {
                refusal.hint("`fairgate init` writes one to start from; --config names another")
            }
            _ => refusal.hint("--config names the configuration file"),
        }
    })
}

/// The configuration in the file; its notes go to stderr.
pub(crate) fn load(path: &Path) -> Result<Config, CliError> {
    let config = Config::parse(&read(path)?, &path.display().to_string())?;
    say_notes(&config);
    Ok(config)
}

/// Says what is allowed but worth knowing.
pub(crate) fn say_notes(config: &Config) {
    for note in &config.notes {
        output::say(&format!("note: {note}"));
    }
}

/// The queues of the file with their adapters.
pub(crate) fn queue_specs(queues: &[QueueConfig]) -> Result<Vec<QueueSpec>, CliError> {
    let spec = |queue: &QueueConfig| {
        let adapter = queue::adapter(&queue.kind, queue.schema.as_deref(), &queue.settings)
            .map_err(|error| CliError::usage(format!("queue \"{}\": {error}", queue.name)))?;
        Ok(QueueSpec { name: queue.name.clone(), queue: Arc::from(adapter), max_waiting: queue.max_waiting })
    };
    queues.iter().map(spec).collect()
}
