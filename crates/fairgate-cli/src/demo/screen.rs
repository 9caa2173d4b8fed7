//! What is shown while the demo runs: a table in place on a terminal, else a line every few seconds. On stderr.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use crossterm::{QueueableCommand, cursor, terminal};
use tokio::time::Instant;

use super::table::{self, Line};
use crate::output;

/// Tenants that are shown.
pub(super) const SHOWN: usize = 12;
/// Rows of the terminal beside the tenants: two lines of words and a blank, the headings, the two sums, the cursor's.
const FRAME: usize = 7;
/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Where the progress is shown.
pub(super) struct Screen {
    live: bool,
    /// Lines of the last table.
    drawn: u16,
    said_at: Option<Instant>,
}

impl Screen {
    pub(super) fn new() -> Self {
        Self { live: std::io::stderr().is_terminal(), drawn: 0, said_at: None }
    }

    /// Shows how far it is; `phase` says what goes on.
    pub(super) fn show(&mut self, phase: &str, lines: &[Line]) {
        if self.live {
            self.draw(phase, lines);
        } else if self.said_at.is_none_or(|at| at.elapsed() >= LINE_EVERY) {
            self.said_at = Some(Instant::now());
            let all = table::sum(&lines.iter().collect::<Vec<_>>(), String::new());
            output::say(&format!(
                "{phase}: staged {}, admitted {}, in flight {}, done {}, longest wait {}",
                table::number(all.staged),
                table::number(all.admitted),
                table::number(all.in_flight),
                table::number(all.done),
                table::seconds(all.longest_wait_ms)
            ));
        }
    }

    /// Takes the live table away, so that the last one can be printed in its place.
    pub(super) fn clear(&mut self) {
        if self.live {
            // There is nobody to tell when a terminal does not take it.
            let _ = self.put(&[]);
        }
    }

    fn draw(&mut self, phase: &str, lines: &[Line]) {
        let (width, height) = terminal::size().unwrap_or((80, 24));
        let (width, height) = (usize::from(width), usize::from(height));
        let tenants = SHOWN.min(height.saturating_sub(FRAME)).max(1);
        let mut text = vec![String::new(), phase.to_owned(), String::new()];
        text.extend(table::table(lines, tenants, width));
        // A line that the terminal would break makes the next table start at the wrong row.
        let text: Vec<String> = text.iter().map(|line| line.chars().take(width).collect()).collect();
        let _ = self.put(&text);
    }

    fn put(&mut self, text: &[String]) -> std::io::Result<()> {
        let mut stderr = std::io::stderr().lock();
        if self.drawn > 0 {
            stderr.queue(cursor::MoveUp(self.drawn))?;
        }
        stderr.queue(cursor::MoveToColumn(0))?.queue(terminal::Clear(terminal::ClearType::FromCursorDown))?;
        for line in text {
            writeln!(stderr, "{line}")?;
        }
        stderr.flush()?;
        self.drawn = u16::try_from(text.len()).unwrap_or(0);
        Ok(())
    }
}
