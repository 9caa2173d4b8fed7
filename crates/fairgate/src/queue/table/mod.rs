//! Any other queue that is a table: the configuration names the columns to fill and the conditions on a row that mean started, succeeded, failed, dead.

mod settings;

use super::rows::{Rows, shape};
use super::{Bounds, Event, Ident, Queue, QueueError};

pub use settings::{Deleted, IdFrom, Means, Other, Sign, TableBack, TableSettings};

/// The adapter, from its settings.
#[derive(Debug, Clone)]
pub struct Table {
    settings: TableSettings,
    rows: Rows,
    shows: &'static [Event],
}

impl Table {
    /// For the table that the settings name, in `schema`.
    ///
    /// # Errors
    /// When a name cannot be one, or an expression is not one expression of SQL.
    pub fn new(schema: &str, settings: TableSettings) -> Result<Self, QueueError> {
        settings.check()?;
        let back = settings.back.as_ref();
        let rows = Rows {
            kind: "table",
            schema: Ident::new(schema)?,
            table: Ident::new(&settings.table)?,
            id: settings.id.clone(),
            id_type: match settings.id_from {
                IdFrom::Sequence => "bigint",
                IdFrom::JobId => "uuid",
            },
            also_same: "",
            state: settings.state(),
            attempts: back.and_then(|back| back.attempts.clone()).unwrap_or_else(|| "0".to_owned()),
            back: back.map(TableBack::columns),
            failed: settings.failed.clone().unwrap_or_else(|| "false".to_owned()),
            columns: None,
            deleted_running: match settings.deleted {
                Deleted::Succeeded => "success",
                Deleted::Removed => "ignored",
            },
            prefix: "",
            live: "",
        };
        Ok(Self { shows: settings.shows(), settings, rows })
    }

    fn other(&self, table: &str) -> String {
        format!("{}.\"{table}\"", self.rows.schema)
    }

    fn signs(&self, template: &str) -> String {
        let one = |(number, sign): (usize, &Sign)| {
            let (event, row) = if sign.deleted { ("DELETE", "OLD") } else { ("INSERT", "NEW") };
            let id = format!("{row}.\"{}\"::text", sign.job);
            let call = match sign.means {
                Means::Started => format!("fairgate.ticket_started({{place}}, {id})"),
                Means::Succeeded => format!("fairgate.ticket_over({{place}}, {id}, 'success', false)"),
                Means::Dead => format!("fairgate.ticket_over({{place}}, {id}, 'failed', true)"),
                Means::Returned => format!("fairgate.ticket_returned({{place}}, {id})"),
                Means::Removed => format!("fairgate.ticket_over({{place}}, {id}, 'ignored', true)"),
            };
            template
                .replace("{call}", &call)
                .replace("{function}", &self.rows.function())
                .replace("{number}", &(number + 1).to_string())
                .replace("{event}", event)
                .replace("{row}", row)
                .replace("{job}", &sign.job)
                .replace("{other}", &self.other(&sign.table))
        };
        self.rows.fill(&self.settings.signs.iter().enumerate().map(one).collect::<String>())
    }
}

impl Queue for Table {
    fn kind(&self) -> &'static str {
        "table"
    }

    fn schema(&self) -> &Ident {
        &self.rows.schema
    }

    fn bounds(&self) -> Bounds {
        let [priority_min, priority_max] = self.settings.priorities;
        Bounds {
            priority_min,
            priority_max,
            max_attempts_max: self.settings.most_attempts,
            task_max_chars: 10_000,
        }
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(&self.settings).expect("plain text and numbers")
    }

    fn queue_id(&self) -> String {
        match self.settings.id_from {
            IdFrom::Sequence => {
                let id = &self.settings.id;
                self.rows.fill(&format!("nextval(pg_get_serial_sequence({{literal}}, '{id}')::regclass)"))
            }
            IdFrom::JobId => "o.job_id".to_owned(),
        }
    }

    fn enqueue(&self) -> String {
        let also = self.settings.also.iter().enumerate().map(|(number, other)| {
            fill_columns(include_str!("also.sql"), &other.columns)
                .replace("{number}", &(number + 1).to_string())
                .replace("{other}", &self.other(&other.table))
                .replace(
                    "{only}",
                    &other.only.as_ref().map_or(String::new(), |only| format!(" WHERE {only}")),
                )
        });
        let notify = self.settings.notify.as_ref().map_or("1".to_owned(), |[channel, payload]| {
            format!("count(*) FROM (SELECT pg_notify({channel}, {payload}) FROM job OFFSET 0) told")
        });
        let text = fill_columns(include_str!("enqueue.sql"), &self.settings.columns)
            .replace("{id}", &self.settings.id)
            .replace("{also}", &also.collect::<String>())
            .replace("{notify}", &notify);
        self.rows.enqueue(&text)
    }

    fn shows(&self) -> &'static [Event] {
        self.shows
    }

    fn hooks(&self) -> Option<String> {
        Some(format!("{}{}", self.rows.hooks(), self.signs(include_str!("signs.sql"))))
    }

    fn unhook(&self) -> Option<String> {
        Some(format!("{}{}", self.rows.unhook(), self.signs(include_str!("unhook_sign.sql"))))
    }

    fn live(&self) -> String {
        self.rows.live()
    }

    fn shape(&self) -> String {
        let table = self.settings.table.as_str();
        let own = self.settings.columns.keys().map(|column| (table, column.as_str(), None));
        let also = self.settings.also.iter().flat_map(|other| {
            other.columns.keys().map(|column| (other.table.as_str(), column.as_str(), None))
        });
        let signs = self.settings.signs.iter().map(|sign| (sign.table.as_str(), sign.job.as_str(), None));
        shape(std::iter::once((table, self.settings.id.as_str(), None)).chain(own).chain(also).chain(signs))
    }

    fn probe(&self) -> Option<String> {
        let text = include_str!("probe.sql")
            .replace("{state}", &self.rows.state)
            .replace("{back}", self.rows.back.as_deref().unwrap_or("NULL"))
            .replace("{attempts}", &self.rows.attempts)
            .replace("{failed}", &self.rows.failed)
            .replace("{id_type}", self.rows.id_type)
            .replace("{enqueue}", &self.enqueue());
        Some(self.rows.fill(&text))
    }

    fn ailments(&self) -> Vec<String> {
        vec![self.rows.ailments()]
    }

    fn triggers(&self) -> Vec<(String, String)> {
        let signs = self.settings.signs.iter().enumerate();
        let signs = signs.map(|(n, sign)| (sign.table.clone(), format!("fairgate_sign_{}", n + 1)));
        self.rows.triggers().into_iter().chain(signs).collect()
    }
}

fn fill_columns(template: &str, columns: &std::collections::BTreeMap<String, String>) -> String {
    let names: Vec<String> = columns.keys().map(|name| format!("\"{name}\"")).collect();
    let values: Vec<&str> = columns.values().map(String::as_str).collect();
    template.replace("{columns}", &names.join(", ")).replace("{values}", &values.join(", "))
}
