use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use fairgate::{NewJob, Outcome, StageError, Staged, stage_many};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use super::lines::{Lines, Numbered, Wrong};
use crate::args::StageArgs;
use crate::error::CliError;
use crate::output;

/// Stages every line in one transaction, or none of them.
pub(super) async fn stage(
    connection: &mut PgConnection,
    args: &StageArgs,
    source: &mut dyn BufRead,
) -> Result<ExitCode, CliError> {
    let doing = |source| fairgate::DatabaseError { doing: "staging a file", source };
    let mut transaction = connection.begin().await.map_err(doing)?;
    let mut lines = Lines::new(source);
    let mut wrong = Wrong::default();
    let mut tally = Tally::new(args.output.json);
    loop {
        let chunk = lines.chunk(&mut wrong)?;
        if chunk.is_empty() {
            break;
        }
        let numbers: Vec<u64> = chunk.iter().map(|numbered| numbered.line).collect();
        let answers = stage_chunk(&mut transaction, args, chunk, &mut wrong).await?;
        tally.add(&numbers, &answers);
    }
    tally.end_progress();
    // The transaction is rolled back when it is dropped.
    wrong.into_result()?;
    transaction.commit().await.map_err(doing)?;
    tally.print(args)?;
    Ok(ExitCode::SUCCESS)
}

/// Stages a chunk. A job that the database refuses is noted and left out, so that the other wrong lines are found too.
async fn stage_chunk(
    connection: &mut PgConnection,
    args: &StageArgs,
    chunk: Vec<Numbered>,
    wrong: &mut Wrong,
) -> Result<Vec<Staged>, CliError> {
    let (mut numbers, mut jobs): (Vec<u64>, Vec<NewJob>) =
        chunk.into_iter().map(|numbered| (numbered.line, numbered.job)).unzip();
    while !wrong.is_full() {
        match stage_many(connection, &args.policy, &jobs).await {
            Ok(answers) => return Ok(answers),
            Err(error) => match blamed(&error).filter(|(index, _)| *index < jobs.len()) {
                Some((index, problem)) => {
                    wrong.add(numbers.remove(index), problem);
                    jobs.remove(index);
                }
                None => return Err(error.into()),
            },
        }
    }
    wrong.leave_unchecked();
    Ok(Vec::new())
}

/// The job that the database refused, counted from 0, and why.
fn blamed(error: &StageError) -> Option<(usize, String)> {
    let (StageError::BadJob { message, hint } | StageError::BadKey { message, hint }) = error else {
        return None;
    };
    let (number, problem) = message.strip_prefix("job ")?.split_once(": ")?;
    let problem = match hint {
        Some(hint) => format!("{problem} ({hint})"),
        None => problem.to_owned(),
    };
    Some((number.parse::<usize>().ok()?.checked_sub(1)?, problem))
}

/// What was staged so far.
struct Tally {
    staged: u64,
    sent: u64,
    /// Kept only where they are printed.
    jobs: Option<Vec<Value>>,
    progress: bool,
}

impl Tally {
    fn new(json: bool) -> Self {
        Self { staged: 0, sent: 0, jobs: json.then(Vec::new), progress: std::io::stderr().is_terminal() }
    }

    fn add(&mut self, lines: &[u64], answers: &[Staged]) {
        let sent = answers.iter().filter(|answer| answer.outcome == Outcome::Sent).count() as u64;
        self.sent += sent;
        self.staged += answers.len() as u64 - sent;
        if let Some(jobs) = &mut self.jobs {
            jobs.extend(lines.iter().zip(answers).map(|(line, answer)| {
                json!({ "line": line, "job_id": answer.job_id, "outcome": answer.outcome.as_str() })
            }));
        }
        if self.progress {
            let _ = write!(std::io::stderr(), "\r{} jobs", self.staged + self.sent);
        }
    }

    /// Clears the line that shows the progress.
    fn end_progress(&self) {
        if self.progress {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    fn print(self, args: &StageArgs) -> Result<(), CliError> {
        let Self { staged, sent, jobs, .. } = self;
        match jobs {
            Some(jobs) => output::print_json(
                &json!({ "policy": args.policy, "staged": staged, "sent": sent, "jobs": jobs }),
            ),
            None if sent > 0 => output::print(&format!("{staged} staged, {sent} sent\n")),
            None => output::print(&format!("{staged} staged\n")),
        }
    }
}
