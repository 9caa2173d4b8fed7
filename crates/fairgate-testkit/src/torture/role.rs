//! The helper processes: what the program `torture-actor` does.

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use tokio::sync::watch;

use super::{ticker, worker};

/// Tells a role to end.
pub(super) type Stop = watch::Receiver<bool>;

/// What a process is told on its command line, in this order.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// `ticker` or `worker`.
    pub(super) role: String,
    /// Which of them.
    pub(super) number: usize,
    /// The database, with the name that its connections bear.
    pub(super) url: String,
    /// That name.
    pub(super) name: String,
}

impl Part {
    pub(super) fn arguments(&self) -> [String; 4] {
        [self.role.clone(), self.number.to_string(), self.url.clone(), self.name.clone()]
    }

    fn from_arguments(arguments: &[String]) -> Option<Self> {
        let [role, number, url, name] = arguments else { return None };
        Some(Self { role: role.clone(), number: number.parse().ok()?, url: url.clone(), name: name.clone() })
    }
}

/// How long a role may take to end when it is told to.
const LAST_WORDS: Duration = Duration::from_secs(20);

/// The whole of `torture-actor`: plays the role on its command line until its standard input ends, as it does when the torture ends, however
/// that comes about.
#[must_use]
pub fn act() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(part) = Part::from_arguments(&arguments) else {
        eprintln!(
            "torture-actor ROLE NUMBER URL NAME: a helper process of the torture test, started by it alone"
        );
        return ExitCode::from(2);
    };
    let log = tracing_subscriber::fmt().with_ansi(false).with_writer(std::io::stderr);
    log.with_max_level(tracing_subscriber::filter::LevelFilter::WARN).init();
    let (told, stop) = watch::channel(false);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = told.send(true);
        std::thread::sleep(LAST_WORDS);
        std::process::exit(4);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime needs nothing that a process has not");
    match part.role.as_str() {
        "ticker" => runtime.block_on(ticker::serve(&part, stop)),
        "worker" => runtime.block_on(worker::work(&part, stop)),
        other => {
            eprintln!("torture-actor: there is no role {other:?}");
            ExitCode::from(2)
        }
    }
}

/// Ready when the role is told to end.
pub(super) async fn stopped(mut stop: Stop) {
    // An error means that nobody is left to say it.
    let _ = stop.wait_for(|stop| *stop).await;
}
