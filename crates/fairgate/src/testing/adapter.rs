use super::TableQueue;
use crate::queue::{Bounds, Event, Ident, Queue};

impl Queue for TableQueue {
    fn kind(&self) -> &'static str {
        "testing_table"
    }

    fn schema(&self) -> &Ident {
        &self.schema
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            priority_min: i32::MIN,
            priority_max: i32::MAX,
            max_attempts_max: i32::MAX,
            task_max_chars: 10_000,
        }
    }

    fn queue_id(&self) -> String {
        self.fill("nextval((SELECT pg_get_serial_sequence('{schema}.jobs', 'id')::regclass))")
    }

    fn enqueue(&self) -> String {
        self.fill(include_str!("table_queue/enqueue.sql"))
    }

    fn shows(&self) -> &'static [Event] {
        if self.silent { &[] } else { Event::ALL }
    }

    fn hooks(&self) -> Option<String> {
        (!self.silent).then(|| self.fill(include_str!("table_queue/hooks.sql")))
    }

    fn unhook(&self) -> Option<String> {
        (!self.silent).then(|| self.fill(include_str!("table_queue/unhook.sql")))
    }

    fn live(&self) -> String {
        self.fill(include_str!("table_queue/live.sql"))
    }

    fn shape(&self) -> String {
        include_str!("table_queue/shape.sql").to_owned()
    }

    fn triggers(&self) -> Vec<(String, String)> {
        let names = ["fairgate_deleted", "fairgate_ended", "fairgate_started"].into_iter();
        let names = names.filter(|_| !self.silent);
        names.map(|name| ("jobs".to_owned(), name.to_owned())).collect()
    }
}
