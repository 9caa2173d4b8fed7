//! The table of tenants, as text.

/// A tenant's line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) policy: &'static str,
    pub(super) tenant: String,
    pub(super) limit: String,
    pub(super) staged: u64,
    pub(super) admitted: u64,
    pub(super) in_flight: u64,
    pub(super) done: u64,
    pub(super) longest_wait_ms: u64,
}

/// Headings, and whether the column is text. The limit is left out where there is no room for it.
const COLUMNS: [(&str, bool); 8] = [
    ("policy", true),
    ("tenant", true),
    ("limit", true),
    ("staged", false),
    ("admitted", false),
    ("in flight", false),
    ("done", false),
    ("longest wait", false),
];
const LIMIT: usize = 2;

/// The heading, the `most` tenants with most deliveries, the others together, and all of them.
pub(super) fn table(lines: &[Line], most: usize, width: usize) -> Vec<String> {
    let mut sorted: Vec<&Line> = lines.iter().collect();
    sorted.sort_by_key(|line| std::cmp::Reverse(line.staged));
    let (first, others) = sorted.split_at(most.min(sorted.len()));
    let mut rows = vec![COLUMNS.map(|(heading, _)| heading.to_owned())];
    rows.extend(first.iter().map(|line| cells(line)));
    if !others.is_empty() {
        rows.push(cells(&sum(others, format!("{} others", others.len()))));
    }
    rows.push(cells(&sum(&sorted, format!("all {}", sorted.len()))));
    let wide = layout(&rows, &[]);
    if wide.iter().all(|line| line.len() <= width) { wide } else { layout(&rows, &[LIMIT]) }
}

/// Several tenants in one line.
pub(super) fn sum(lines: &[&Line], name: String) -> Line {
    let add = |get: fn(&Line) -> u64| lines.iter().map(|line| get(line)).sum();
    Line {
        tenant: name,
        staged: add(|line| line.staged),
        admitted: add(|line| line.admitted),
        in_flight: add(|line| line.in_flight),
        done: add(|line| line.done),
        longest_wait_ms: lines.iter().map(|line| line.longest_wait_ms).max().unwrap_or(0),
        ..Line::default()
    }
}

fn cells(line: &Line) -> [String; 8] {
    [
        line.policy.to_owned(),
        line.tenant.clone(),
        line.limit.clone(),
        number(line.staged),
        number(line.admitted),
        number(line.in_flight),
        number(line.done),
        seconds(line.longest_wait_ms),
    ]
}

fn layout(rows: &[[String; 8]], without: &[usize]) -> Vec<String> {
    let columns: Vec<usize> = (0..COLUMNS.len()).filter(|column| !without.contains(column)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(|&column| width(column)).collect();
    let text = |row: &[String; 8]| {
        let cell = |(&column, &width): (&usize, &usize)| match COLUMNS[column].1 {
            true => format!("{:<width$}", row[column]),
            false => format!("{:>width$}", row[column]),
        };
        let cells: Vec<String> = columns.iter().zip(&widths).map(cell).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(text).collect()
}

/// With a comma between thousands.
pub(super) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Milliseconds as seconds.
pub(super) fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tenant: &str, staged: u64, longest_wait_ms: u64) -> Line {
        let (tenant, limit) = (tenant.to_owned(), "max 12".to_owned());
        Line { policy: "demo_pushes", tenant, limit, staged, longest_wait_ms, ..Line::default() }
    }

    #[test]
    fn the_busiest_come_first_and_the_others_together() {
        let lines = [line("a", 1, 100), line("b", 12_345, 61_250), line("c", 2, 0)];
        insta::assert_snapshot!(table(&lines, 1, 100).join("\n"), @r"
        policy       tenant    limit   staged  admitted  in flight  done  longest wait
        demo_pushes  b         max 12  12,345         0          0     0        61.2 s
                     2 others               3         0          0     0         0.1 s
                     all 3             12,348         0          0     0        61.2 s
        ");
    }

    #[test]
    fn a_narrow_terminal_gets_no_limits() {
        let text = table(&[line("user-0123abcd", 1_000_000, 0)], 1, 80);
        assert!(text.iter().all(|line| line.len() <= 80));
        assert!(!text[0].contains("limit"));
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
    }
}
