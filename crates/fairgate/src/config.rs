//! `fairgate.toml`: the engine's knobs, the queues behind us, and the policies.
//!
//! Reading a file reports everything that is wrong with it at once, each problem with its line and column. Only what is written
//! and impossible is refused; what is merely worth knowing comes back as [`Config::notes`].

mod engine;
mod fairness;
mod findings;
mod gate;
mod param;
mod policy;
mod problem;
mod queue;
mod section;
mod shown;
mod suggest;
mod syntax;
mod table;
mod value;

use fairgate_core::id::QueueName;
use fairgate_core::policy::Policy;

use crate::settings::Settings;
use findings::Findings;
use section::Section;

pub use problem::{ConfigErrors, ConfigProblem};
pub use suggest::nearest;

/// The keys of the file itself.
const KEYS: &[&str] = &["revision", "engine", "queues", "policies"];

/// A configuration that is known to make sense.
#[derive(Debug, Clone)]
pub struct Config {
    /// The number that the file gives itself, from 1. None: the database numbers what is applied.
    pub revision: Option<u32>,
    /// The knobs of `[engine]`, with the defaults for those left out.
    pub engine: Settings,
    /// The queues, in the order of the file; at least one.
    pub queues: Vec<QueueConfig>,
    /// The policies, in the order of the file.
    pub policies: Vec<Policy>,
    /// What is allowed but worth knowing, a line each, with its place.
    pub notes: Vec<String>,
}

/// A queue behind us, as the file describes it. [`crate::queue::adapter`] takes these fields.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueConfig {
    /// The name that policies use.
    pub name: QueueName,
    /// What it is: one of [`crate::queue::KINDS`].
    pub kind: String,
    /// The schema of its tables. None: the one that its kind uses by itself.
    pub schema: Option<String>,
    /// Jobs that it may hold and no worker has begun. None: fits itself to the workers; 0: any number.
    pub max_waiting: Option<u32>,
    /// What else the adapter needs to know, as a JSON object.
    pub settings: serde_json::Value,
}

impl Config {
    /// Reads the text of a file. `file_name` is only for the messages.
    ///
    /// # Errors
    /// Every problem of the file, in the order of its lines.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ConfigErrors> {
        let table = syntax::parse(text, file_name)?;
        let root = Section::root(&table);
        let mut found = Findings::new(text, file_name);
        root.only(&mut found, KEYS, &[]);
        let revision = revision(&root, &mut found);
        let engine = match root.section("engine", &mut found) {
            Some(section) => engine::read(&section, &mut found),
            None => Settings::default(),
        };
        let section = queue::section(&root, &mut found);
        let queues = section.as_ref().map(|section| queue::read_all(section, &mut found)).unwrap_or_default();
        let policies = policy::read_all(&root, section.as_ref(), &mut found);
        if let Some(section) = section {
            queue::note_unused(&section, &policies, &mut found);
            shown::check(&section, &queues, &policies, &root, &mut found);
        }
        let notes = found.finish()?;
        Ok(Self { revision, engine, queues, policies, notes })
    }

    /// A file to start from: every key with its default, and three policies.
    #[must_use]
    pub const fn example() -> &'static str {
        include_str!("config/example.toml")
    }
}

fn revision(root: &Section<'_>, found: &mut Findings<'_>) -> Option<u32> {
    let node = root.get("revision")?;
    let number = node.whole(found, 1, i32::MAX.unsigned_abs())?;
    if number == 0 {
        found.problem(node.offset, &node.at, "is 0; revisions count from 1");
    }
    Some(number)
}
