use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use uuid::Uuid;

use super::tell::{self, Answers};
use super::{Reported, Slot};
use crate::error::{DatabaseError, Doing};
use crate::track::End;

/// How long a report may take before its connection counts as lost, and how long an end without guards left is tried.
const LOST_AFTER: Duration = Duration::from_secs(10);
/// Pauses before another try: the first, doubled each time, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(2));

/// How a guard ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    Finished(End),
    Retried,
}

impl Ending {
    fn as_str(self) -> &'static str {
        match self {
            Self::Finished(end) => end.as_str(),
            Self::Retried => "retried",
        }
    }
}

/// What guards ask of their heart.
#[derive(Debug)]
pub(super) enum Call {
    Start { number: u64, admission: Uuid, slot: Arc<Slot>, reply: oneshot::Sender<()> },
    End { number: u64, admission: Uuid, ending: Ending, reply: Option<oneshot::Sender<Reported>> },
}

#[derive(Debug)]
struct Live {
    admission: Uuid,
    slot: Arc<Slot>,
    /// Somebody waits for its first beat.
    starting: Option<oneshot::Sender<()>>,
}

#[derive(Debug)]
struct Ended {
    admission: Uuid,
    ending: Ending,
    reply: Option<oneshot::Sender<Reported>>,
}

/// What is left to report, and when.
#[derive(Debug, Clone, Copy)]
enum Again {
    /// Rows that were in somebody's hands.
    Busy(Instant),
    /// Everything: the database did not answer.
    Lost(Instant),
}

/// The task behind a heart: the guards that are alive, the ends that the database has not taken yet, and the connection.
#[derive(Debug)]
pub(super) struct Reporter {
    options: PgConnectOptions,
    every: Duration,
    connection: Option<PgConnection>,
    live: HashMap<u64, Live>,
    ended: Vec<Ended>,
    next_beat: Instant,
    tries: u32,
    /// The database does not answer, which has been said.
    lost: bool,
}

impl Reporter {
    pub(super) fn new(options: PgConnectOptions, every: Duration) -> Self {
        Self {
            options,
            every,
            connection: None,
            live: HashMap::new(),
            ended: Vec::new(),
            next_beat: Instant::now() + every,
            tries: 0,
            lost: false,
        }
    }

    pub(super) async fn connection(&mut self) -> Result<&mut PgConnection, DatabaseError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                PgConnection::connect_with(&self.options).await.doing("connecting for the guards of jobs")?
            }
        };
        Ok(self.connection.insert(connection))
    }

    pub(super) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Call>) {
        let mut closed_at = None;
        let mut again = None;
        loop {
            let wake = match &again {
                None => self.next_beat,
                Some(Again::Busy(at)) => (*at).min(self.next_beat),
                Some(Again::Lost(at)) => *at,
            };
            tokio::select! {
                call = inbox.recv(), if closed_at.is_none() => match call {
                    Some(call) => {
                        self.take(call);
                        while let Ok(call) = inbox.try_recv() {
                            self.take(call);
                        }
                    }
                    None => closed_at = Some(Instant::now()),
                },
                () = tokio::time::sleep_until(wake) => {}
            }
            let waited_enough = closed_at.is_some_and(|at: Instant| at.elapsed() > LOST_AFTER);
            if closed_at.is_some() && (self.ended.is_empty() || waited_enough) {
                break;
            }
            // While the database does not answer, new calls wait for the next try too.
            if !matches!(&again, Some(Again::Lost(at)) if *at > Instant::now()) {
                again = self.try_to_report().await;
            }
        }
        if let Some(connection) = self.connection {
            let _ = connection.close().await;
        }
    }

    fn take(&mut self, call: Call) {
        match call {
            Call::Start { number, admission, slot, reply } => {
                self.live.insert(number, Live { admission, slot, starting: Some(reply) });
            }
            Call::End { number, admission, ending, reply } => {
                self.live.remove(&number);
                self.ended.push(Ended { admission, ending, reply });
            }
        }
    }

    /// Reports what there is. Some: something is left for another try.
    async fn try_to_report(&mut self) -> Option<Again> {
        let outcome = match tokio::time::timeout(LOST_AFTER, self.report()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(DatabaseError {
                doing: "reporting for the guards of jobs",
                source: sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()),
            }),
        };
        if let Err(error) = &outcome {
            if !self.lost {
                tracing::warn!(error = %error, "the guards of jobs cannot reach the database; trying again with new connections");
            }
            self.connection = None;
        } else if self.lost {
            tracing::info!("the guards of jobs reach the database again");
        }
        self.lost = outcome.is_err();
        let again = match outcome {
            Ok(false) => {
                self.tries = 0;
                return None;
            }
            Ok(true) => Again::Busy,
            Err(_) => Again::Lost,
        };
        let pause = PAUSES.0 * 2_u32.pow(self.tries.min(10));
        self.tries += 1;
        Some(again(Instant::now() + pause.min(PAUSES.1)))
    }

    /// True: some rows were in somebody's hands.
    async fn report(&mut self) -> Result<bool, DatabaseError> {
        let due = self.next_beat <= Instant::now();
        let beating = self.live.values().filter(|live| due || live.starting.is_some());
        let mut beats: Vec<Uuid> = beating.map(|live| live.admission).collect();
        beats.sort_unstable();
        beats.dedup();
        let mut busy = false;
        if !beats.is_empty() {
            let answers = tell::heartbeats(self.connection().await?, &beats).await?;
            busy |= self.note_beats(&beats, &answers);
        }
        if due {
            self.next_beat = Instant::now() + self.every;
        }
        if !self.ended.is_empty() {
            let ids: Vec<Uuid> = self.ended.iter().map(|end| end.admission).collect();
            let outcomes: Vec<&str> = self.ended.iter().map(|end| end.ending.as_str()).collect();
            let answers = tell::finished_many(self.connection().await?, &ids, &outcomes).await?;
            busy |= self.note_ends(&answers);
        }
        Ok(busy)
    }

    /// A guard whose slot is gone beats no longer. True: a start was not recorded, because its row was in somebody's hands.
    fn note_beats(&mut self, beats: &[Uuid], answers: &Answers) -> bool {
        let mut busy = false;
        self.live.retain(|_, live| {
            if beats.binary_search(&live.admission).is_err() {
                return true;
            }
            let state = match answers.get(&live.admission).map(String::as_str) {
                None => Slot::HELD,
                Some("gone") => Slot::GONE,
                Some(_) => {
                    busy |= live.starting.is_some();
                    return true;
                }
            };
            if state == Slot::GONE {
                tracing::warn!(admission = %live.admission, "the slot of a running job is gone: it ended, or was silent for too long");
            }
            live.slot.set(state);
            if let Some(reply) = live.starting.take() {
                let _ = reply.send(());
            }
            state == Slot::HELD
        });
        busy
    }

    /// True: an end was not recorded, because its row was in somebody's hands.
    fn note_ends(&mut self, answers: &Answers) -> bool {
        let ended = std::mem::take(&mut self.ended);
        for end in ended {
            let reported = match answers.get(&end.admission).map(String::as_str) {
                Some("done") => Reported::Done,
                Some("gone") => Reported::Gone,
                _ => {
                    self.ended.push(end);
                    continue;
                }
            };
            if let Some(reply) = end.reply {
                let _ = reply.send(reported);
            }
        }
        !self.ended.is_empty()
    }
}
