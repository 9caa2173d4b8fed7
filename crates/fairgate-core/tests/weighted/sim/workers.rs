//! The queue behind the lane: first in, first out, with workers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A job that a worker has or will have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) tenant: usize,
    pub(crate) charged: f64,
    pub(crate) seconds: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Workers {
    free: usize,
    pub(crate) queue: VecDeque<Job>,
    /// By the microsecond of their end.
    running: BinaryHeap<Reverse<(i64, u64)>>,
    jobs: Vec<Job>,
    /// Worker seconds spent so far by jobs that ended.
    pub(crate) busy: f64,
}

pub(crate) enum Event {
    Started(Job),
    Finished(Job),
}

impl Workers {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            free: workers,
            queue: VecDeque::new(),
            running: BinaryHeap::new(),
            jobs: Vec::new(),
            busy: 0.0,
        }
    }

    /// What happens next, no later than `until`.
    pub(crate) fn next(&mut self, now: i64, until: i64) -> Option<(i64, Event)> {
        if self.free > 0
            && let Some(job) = self.queue.pop_front()
        {
            self.free -= 1;
            let end = now + (job.seconds * 1e6) as i64;
            self.running.push(Reverse((end, self.jobs.len() as u64)));
            self.jobs.push(job);
            return Some((now, Event::Started(job)));
        }
        let &Reverse((end, at)) = self.running.peek()?;
        if end > until {
            return None;
        }
        self.running.pop();
        self.free += 1;
        let job = self.jobs[at as usize];
        self.busy += job.seconds;
        Some((end, Event::Finished(job)))
    }
}
