//! What adapters share whose queue is a table with one row for each job, and no room in it for our ids: a ticket for each job, and one trigger
//! function that compares what a row was with what it is.

use sha2::{Digest, Sha256};

use super::Ident;

/// A table of jobs, in SQL over a row `r` of it.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// The adapter's kind.
    pub(super) kind: &'static str,
    pub(super) schema: Ident,
    pub(super) table: Ident,
    /// The column with the queue's own id, and its type.
    pub(super) id: String,
    pub(super) id_type: &'static str,
    /// What else makes a row the same as `OLD`.
    pub(super) also_same: &'static str,
    /// waiting, running, succeeded, dead or removed.
    pub(super) state: String,
    /// Attempts made.
    pub(super) attempts: String,
    /// The columns payload, priority, run_at, attempts, max_attempts and error of a job that goes back into staging. None: it never does.
    pub(super) back: Option<String>,
    /// Whether a row that waits again does so after a failed attempt.
    pub(super) failed: String,
    /// Columns whose change can change the state. None: any may.
    pub(super) columns: Option<&'static str>,
    /// What it means that a running job's row is deleted: success or ignored.
    pub(super) deleted_running: &'static str,
    /// Before the triggers' names, where the queue's own must fire first: triggers fire in the order of their names.
    pub(super) prefix: &'static str,
    /// What else a job that lives must meet, beginning with AND.
    pub(super) live: &'static str,
}

impl Rows {
    /// The table, quoted.
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.schema, self.table)
    }

    /// What tickets call the table: a literal.
    pub(super) fn place(&self) -> String {
        format!("'{}:{}.{}'", self.kind, self.schema.as_str(), self.table.as_str())
    }

    /// Fills the slots of a template.
    pub(super) fn fill(&self, template: &str) -> String {
        template
            .replace("{place}", &self.place())
            .replace("{schema}", &self.schema.to_string())
            .replace("{table}", &self.name())
            .replace("{text}", &format!("'{}'", self.schema.as_str()))
            .replace("{literal}", &format!("'{}'", self.name()))
    }

    /// The CTEs that put tickets and the queue's own rows.
    pub(super) fn enqueue(&self, queue: &str) -> String {
        self.fill(&format!("{}{queue}", include_str!("rows/ticket.sql")))
    }

    pub(super) fn hooks(&self) -> String {
        let waiting = match &self.back {
            Some(back) => include_str!("rows/waiting.sql")
                .replace("{back}", back.trim())
                .replace("{failed}", &self.failed),
            None => "            PERFORM fairgate.ticket_returned(place, queue_id);\n".to_owned(),
        };
        let (of, when) = match self.columns {
            Some(columns) => (
                format!(" OF {columns}"),
                format!(
                    " WHEN (({}) IS DISTINCT FROM ({}))",
                    prefixed(columns, "OLD"),
                    prefixed(columns, "NEW")
                ),
            ),
            None => (String::new(), String::new()),
        };
        let hooks = include_str!("rows/hooks.sql")
            .replace("{waiting}\n", &waiting)
            .replace("{state}", self.state.trim())
            .replace("{attempts}", self.attempts.trim())
            .replace("{function}", &self.function())
            .replace("{old_id}", &format!("OLD.{}::text", quoted(&self.id)))
            .replace("{same}", &format!("r.{0} = OLD.{0}{1}", quoted(&self.id), self.also_same))
            .replace("{deleted_running}", self.deleted_running)
            .replace("{prefix}", self.prefix)
            .replace("{of_columns}", &of)
            .replace("{when}", &when);
        self.fill(&hooks)
    }

    pub(super) fn unhook(&self) -> String {
        self.fill(&include_str!("rows/unhook.sql").replace("{prefix}", self.prefix))
    }

    pub(super) fn live(&self) -> String {
        let live = include_str!("rows/live.sql")
            .replace("{id_type}", self.id_type)
            .replace("{id}", &quoted(&self.id))
            .replace("{state}", self.state.trim())
            .replace("{live}", self.live);
        self.fill(&live)
    }

    pub(super) fn ailments(&self) -> String {
        self.fill(include_str!("ailments.sql"))
    }

    /// The triggers' names, with their table.
    pub(super) fn triggers(&self) -> Vec<(String, String)> {
        let trigger = |name: &str| (self.table.as_str().to_owned(), format!("{}{name}", self.prefix));
        vec![trigger("fairgate_changed"), trigger("fairgate_deleted")]
    }

    /// One function for each table, because the row's type is in its text.
    pub(super) fn function(&self) -> String {
        let digest = Sha256::digest(self.place());
        let digest: String = digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        format!("{}_{digest}", self.kind)
    }
}

/// The shape that a table must have: (table, column, type or none), as the rows of VALUES.
pub(super) fn shape<'a>(columns: impl IntoIterator<Item = (&'a str, &'a str, Option<&'a str>)>) -> String {
    let rows: Vec<String> = columns
        .into_iter()
        .map(|(table, column, kind)| {
            let kind = kind.map_or("NULL".to_owned(), |kind| format!("'{kind}'"));
            format!("('{table}', '{column}', {kind})")
        })
        .collect();
    include_str!("shape.sql").replace("{columns}", &rows.join(", "))
}

/// A column's name in quotes; what is no plain name was refused before.
fn quoted(column: &str) -> String {
    format!("\"{column}\"")
}

fn prefixed(columns: &str, row: &str) -> String {
    columns.split(", ").map(|column| format!("{row}.{column}")).collect::<Vec<_>>().join(", ")
}
