//! From a packed file to events, in batches that fit in memory.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ingest::event::{Actor, Bad, Event, Push, Repository, Shape, read};

/// The most of a batch: lines, and bytes of them.
const LINES: usize = 4_000;
const BYTES: usize = 8 * 1024 * 1024;

/// Lines as they came.
pub(super) struct Batch {
    text: Vec<u8>,
    lines: u64,
    packed: u64,
}

/// Lines, read.
#[derive(Default)]
pub(super) struct Parsed {
    pub(super) pushes: Vec<(Push, String)>,
    pub(super) bad: Vec<(Bad, String)>,
    pub(super) ignored: i32,
    /// Lines that are no JSON at all.
    pub(super) failed: i32,
    pub(super) lines: u64,
    /// Bytes of the packed file.
    pub(super) packed: u64,
}

/// Counts the bytes that are read through it.
struct Counted<R>(R, Arc<AtomicU64>);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(into)?;
        self.1.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Gives the batches of a file after its first `skip` lines to `take`, until that has enough.
pub(super) fn batches(path: &Path, skip: u64, take: impl Fn(Batch) -> bool) -> std::io::Result<()> {
    let count = Arc::new(AtomicU64::new(0));
    let packed = BufReader::with_capacity(256 * 1024, Counted(File::open(path)?, count.clone()));
    let mut lines = BufReader::with_capacity(256 * 1024, MultiGzDecoder::new(packed));
    let mut line = Vec::new();
    for _ in 0..skip {
        line.clear();
        lines.read_until(b'\n', &mut line)?;
    }
    let mut told = 0;
    loop {
        let mut batch = Batch { text: Vec::new(), lines: 0, packed: 0 };
        while (batch.lines as usize) < LINES && batch.text.len() < BYTES {
            if lines.read_until(b'\n', &mut batch.text)? == 0 {
                break;
            }
            batch.lines += 1;
        }
        let now = count.load(Ordering::Relaxed);
        batch.packed = now - told;
        told = now;
        if batch.lines == 0 || !take(batch) {
            return Ok(());
        }
    }
}

/// Reads the lines of a batch.
pub(super) fn parse(batch: &Batch) -> Parsed {
    let mut parsed = Parsed { lines: batch.lines, packed: batch.packed, ..Parsed::default() };
    for line in batch.text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Ok(text) = std::str::from_utf8(line) else {
            parsed.failed += 1;
            continue;
        };
        match quickly(text).unwrap_or_else(|| read(text, Shape::Archived)) {
            Event::Push(push) => parsed.pushes.push((*push, text.to_owned())),
            Event::Other => parsed.ignored += 1,
            Event::Bad(_) if serde_json::from_str::<&RawValue>(text).is_err() => parsed.failed += 1,
            Event::Bad(bad) => parsed.bad.push((bad, text.to_owned())),
        }
    }
    parsed
}

#[derive(Deserialize)]
struct Quick<'t> {
    #[serde(borrow)]
    id: Cow<'t, str>,
    r#type: &'t str,
    #[serde(borrow)]
    actor: QuickActor<'t>,
    #[serde(borrow)]
    repo: QuickRepo<'t>,
    #[serde(borrow)]
    payload: &'t RawValue,
    public: Option<bool>,
    created_at: &'t str,
}

#[derive(Deserialize)]
struct QuickActor<'t> {
    id: i64,
    #[serde(borrow)]
    login: Cow<'t, str>,
    #[serde(borrow)]
    display_login: Option<Cow<'t, str>>,
    #[serde(borrow)]
    url: Option<Cow<'t, str>>,
    #[serde(borrow)]
    avatar_url: Option<Cow<'t, str>>,
}

#[derive(Deserialize)]
struct QuickRepo<'t> {
    id: i64,
    #[serde(borrow)]
    name: Cow<'t, str>,
    #[serde(borrow)]
    url: Option<Cow<'t, str>>,
}

#[derive(Deserialize)]
struct QuickPayload<'t> {
    repository_id: Option<i64>,
    push_id: Option<i64>,
    #[serde(borrow)]
    r#ref: Cow<'t, str>,
    head: &'t str,
    before: Option<&'t str>,
}

/// The ordinary event, without building what is not kept. None: it is not quite ordinary, and the careful way decides.
fn quickly(text: &str) -> Option<Event> {
    let quick: Quick<'_> = serde_json::from_str(text).ok()?;
    if quick.r#type != "PushEvent" {
        return Some(Event::Other);
    }
    let payload: QuickPayload<'_> = serde_json::from_str(quick.payload.get()).ok()?;
    let (actor, repo) = (quick.actor, quick.repo);
    let own = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
    let push = Push {
        github_id: quick.id.parse().ok()?,
        created_at: chrono::DateTime::parse_from_rfc3339(quick.created_at).ok()?.to_utc(),
        actor: Actor {
            id: actor.id,
            login: actor.login.into_owned(),
            display_login: own(actor.display_login),
            api_url: own(actor.url),
            avatar_url: own(actor.avatar_url),
        },
        repository: Repository { id: repo.id, full_name: repo.name.into_owned(), api_url: own(repo.url) },
        push_id: payload.push_id,
        git_ref: payload.r#ref.into_owned(),
        head: payload.head.to_owned(),
        before: payload.before.map(str::to_owned),
        public: quick.public,
    };
    (is_ordinary(&push) && payload.repository_id.is_none_or(|id| id == push.repository.id))
        .then(|| Event::Push(Box::new(push)))
}

fn is_ordinary(push: &Push) -> bool {
    let sha = |sha: &String| matches!(sha.len(), 40 | 64) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    let text = |text: &String| !text.is_empty() && !text.contains('\0');
    let optional = |it: &Option<String>| it.as_ref().is_none_or(text);
    let ids = [push.github_id, push.actor.id, push.repository.id, push.push_id.unwrap_or(1)];
    ids.into_iter().all(|id| id > 0)
        && sha(&push.head)
        && push.before.as_ref().is_none_or(sha)
        && [&push.actor.login, &push.repository.full_name, &push.git_ref].into_iter().all(text)
        && [&push.actor.display_login, &push.actor.api_url, &push.actor.avatar_url, &push.repository.api_url]
            .into_iter()
            .all(optional)
}
