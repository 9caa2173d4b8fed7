use serde::Serialize;

/// The rows so far, each printed as it comes.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

/// One measurement: a ratio of two medians measured side by side, or plain figures where nothing compares.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) section: &'static str,
    pub(crate) what: String,
    /// Fairgate's speed divided by the other's; where less is better, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<f64>,
    /// The least (or, with `at_most`, the greatest) ratio that is promised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<f64>,
    pub(crate) at_most: bool,
    pub(crate) figures: String,
}

impl Row {
    fn missed(&self) -> bool {
        match (self.ratio, self.target) {
            (Some(ratio), Some(target)) if self.at_most => ratio > target,
            (Some(ratio), Some(target)) => ratio < target,
            _ => false,
        }
    }
}

impl Table {
    pub(crate) fn push(&mut self, row: Row) {
        if self.rows.last().is_none_or(|last| last.section != row.section) {
            println!("\n{}", row.section);
        }
        let number = |n: Option<f64>| n.map_or_else(|| "    -".to_owned(), |n| format!("{n:5.2}"));
        let target = match row.target {
            Some(t) if row.at_most => format!("<= {t:.2}"),
            Some(t) => format!(">= {t:.2}"),
            None => "       ".to_owned(),
        };
        let mark = if row.missed() { "MISSED" } else { "" };
        println!("  {:<66} {} {target} {mark:<6} {}", row.what, number(row.ratio), row.figures);
        self.rows.push(row);
    }

    pub(crate) fn missed(&self) -> bool {
        self.rows.iter().any(Row::missed)
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }
}

/// The median of what was measured.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
