use std::io::IsTerminal;

use comfy_table::{CellAlignment, ContentArrangement, presets};

/// A table without borders: as wide as the terminal allows, and never wrapped where stdout is no terminal.
pub(crate) struct Table {
    table: comfy_table::Table,
}

/// How a column is aligned.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// Text, to the left.
    Text(&'static str),
    /// A number, to the right.
    Number(&'static str),
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_preset(presets::NOTHING);
        table.set_content_arrangement(if std::io::stdout().is_terminal() {
            ContentArrangement::Dynamic
        } else {
            ContentArrangement::Disabled
        });
        table.set_header(columns.iter().map(|column| match column {
            Column::Text(name) | Column::Number(name) => *name,
        }));
        for (column, kind) in table.column_iter_mut().zip(columns) {
            // One blank to the right of the text, none to its left: columns begin at the edge.
            column.set_padding((0, 2));
            if matches!(kind, Column::Number(_)) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Self { table }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(cells.into_iter().map(|cell| printable(&cell)));
    }

    /// The lines, without blanks at their ends.
    pub(crate) fn text(&self) -> String {
        self.table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

/// Keys are any text: control characters in them must not reach the terminal.
fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}
