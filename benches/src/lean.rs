//! The smallest queue there can be: one table with two indexes. What is left of a tick's cost is fairgate's own.

use fairgate::queue::{Bounds, Ident, Queue};

/// Adapter for `bench.lean`.
#[derive(Debug)]
pub(crate) struct Lean {
    schema: Ident,
}

impl Lean {
    pub(crate) fn new() -> Self {
        Self { schema: Ident::new("bench").expect("a name") }
    }
}

impl Queue for Lean {
    fn kind(&self) -> &'static str {
        "lean"
    }

    fn schema(&self) -> &Ident {
        &self.schema
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            priority_min: i32::MIN,
            priority_max: i32::MAX,
            max_attempts_max: i32::MAX,
            task_max_chars: 1000,
        }
    }

    fn queue_id(&self) -> String {
        "nextval('bench.lean_id_seq')".to_owned()
    }

    fn enqueue(&self) -> String {
        include_str!("../queries/lean_enqueue.sql").to_owned()
    }

    fn hooks(&self) -> Option<String> {
        None
    }

    fn unhook(&self) -> Option<String> {
        None
    }

    fn live(&self) -> String {
        "SELECT a FROM unnest($1::uuid[], $2::text[]) u (a, q)".to_owned()
    }

    fn shape(&self) -> String {
        "SELECT 'missing' AS problem WHERE to_regclass($1 || '.lean') IS NULL".to_owned()
    }

    fn triggers(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
