//! The helper processes: started, killed, frozen, and started again. Only our own children are ever touched, and only before they are reaped.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::role::Part;

/// Names of the processes that live.
pub(super) type Living = Arc<Mutex<Vec<String>>>;

/// A place in the play, and the process that fills it at the moment.
#[derive(Debug)]
pub(super) struct Actor {
    role: &'static str,
    number: usize,
    lives: usize,
    name: String,
    child: Child,
    frozen_until: Option<Instant>,
    /// Frozen for long: nobody else may disturb it.
    pub(super) spared: bool,
}

/// Every place in the play.
#[derive(Debug)]
pub(super) struct Cast {
    program: PathBuf,
    url: String,
    logs: PathBuf,
    pub(super) living: Living,
    pub(super) actors: Vec<Actor>,
    /// Processes that ended although nobody had killed them, with their role and status.
    pub(super) ended: Vec<(&'static str, ExitStatus)>,
}

impl Cast {
    /// Starts the processes. `logs` is an existing folder for what they say.
    pub(super) fn start(program: &Path, url: &str, logs: &Path, roles: &[(&'static str, usize)]) -> Self {
        let mut cast = Self {
            program: program.to_owned(),
            url: url.to_owned(),
            logs: logs.to_owned(),
            living: Living::default(),
            actors: Vec::new(),
            ended: Vec::new(),
        };
        for &(role, count) in roles {
            for number in 0..count {
                let (name, child) = cast.spawn(role, number, 0);
                cast.actors.push(Actor {
                    role,
                    number,
                    lives: 0,
                    name,
                    child,
                    frozen_until: None,
                    spared: false,
                });
            }
        }
        cast
    }

    fn spawn(&self, role: &'static str, number: usize, life: usize) -> (String, Child) {
        let name = format!("torture-{role}-{number}-{life}");
        let separator = if self.url.contains('?') { '&' } else { '?' };
        let url = format!("{}{separator}application_name={name}", self.url);
        let part = Part { role: role.to_owned(), number, url, name: name.clone() };
        let log =
            File::options().create(true).append(true).open(self.logs.join(format!("{role}-{number}.log")));
        let log = log.unwrap_or_else(|error| panic!("opening a log in {}: {error}", self.logs.display()));
        let child = Command::new(&self.program)
            .args(part.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("starting {}: {error}", self.program.display()));
        self.living.lock().expect("nobody panics with this lock").push(name.clone());
        (name, child)
    }

    /// Fills a place again. What was there has been reaped.
    fn replace(&mut self, place: usize) {
        let actor = &self.actors[place];
        self.living.lock().expect("nobody panics with this lock").retain(|name| *name != actor.name);
        let (role, number, lives) = (actor.role, actor.number, actor.lives + 1);
        let (name, child) = self.spawn(role, number, lives);
        self.actors[place] = Actor { role, number, lives, name, child, frozen_until: None, spared: false };
    }

    /// Thaws whoever has been frozen long enough, and fills the places of those that ended by themselves.
    pub(super) fn look_after(&mut self) {
        for place in 0..self.actors.len() {
            let actor = &mut self.actors[place];
            if actor.frozen_until.is_some_and(|until| Instant::now() >= until) {
                actor.thaw();
            }
            if let Some(status) = actor.child.try_wait().expect("our own child can be waited for") {
                self.ended.push((actor.role, status));
                self.replace(place);
            }
        }
    }

    /// Kills a process on the spot, frozen or not, and starts the next one.
    pub(super) fn kill(&mut self, place: usize) {
        self.actors[place].kill();
        self.replace(place);
    }

    /// The places of a role that may be disturbed.
    pub(super) fn places(&self, role: &str) -> Vec<usize> {
        let all = self.actors.iter().enumerate();
        all.filter(|(_, actor)| actor.role == role && !actor.spared).map(|(place, _)| place).collect()
    }

    /// Lets everybody go on.
    pub(super) fn thaw_all(&mut self) {
        self.actors.iter_mut().for_each(Actor::thaw);
    }

    /// Tells everybody to end. Returns those that did not end well within `patience`, in words.
    pub(super) fn dismiss(mut self, patience: Duration) -> Vec<String> {
        let deadline = Instant::now() + patience;
        for actor in &mut self.actors {
            drop(actor.child.stdin.take());
        }
        let mut bad = Vec::new();
        for actor in &mut self.actors {
            let status = loop {
                match actor.child.try_wait().expect("our own child can be waited for") {
                    Some(status) => break Some(status),
                    None if Instant::now() >= deadline => break None,
                    None => std::thread::sleep(Duration::from_millis(5)),
                }
            };
            match status {
                Some(status) if status.success() => {}
                Some(status) => bad.push(format!("{} ended with {status}", actor.name)),
                None => bad.push(format!("{} did not end within {patience:?}", actor.name)),
            }
        }
        bad
    }
}

impl Actor {
    /// Stops the process as SIGSTOP does, for a time.
    pub(super) fn freeze(&mut self, time: Duration) {
        if self.frozen_until.is_none() && self.signal("STOP") {
            self.frozen_until = Some(Instant::now() + time);
        }
    }

    fn thaw(&mut self) {
        if self.frozen_until.take().is_some() {
            self.signal("CONT");
            self.spared = false;
        }
    }

    fn kill(&mut self) {
        // It may have ended a moment ago; it is reaped here in any case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends a signal to a child that has not been reaped, so that its number is nobody else's.
    fn signal(&mut self, signal: &str) -> bool {
        let alive = matches!(self.child.try_wait(), Ok(None));
        alive
            && Command::new("sh")
                .args(["-c", "kill -s \"$0\" \"$1\"", signal, &self.child.id().to_string()])
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.kill();
    }
}
