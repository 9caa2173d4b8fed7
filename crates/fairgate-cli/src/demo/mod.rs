//! `fairgate demo`: real jobs of many tenants through a real queue, and an audit of what went through.
//!
//! The walk of recorded events ([`walk`]) is staged again and again ([`feed`]); tickers and Graphile workers ([`crew`]), or another
//! queue's SQL ([`players`]), run in this process; every job is a request to a local endpoint ([`endpoint`]). Meanwhile the numbers are shown ([`board`], [`screen`]). At the
//! end the record that triggers and the endpoint have written ([`record`]) is audited ([`mod@audit`]).

mod audit;
mod board;
mod crew;
mod drive;
mod endpoint;
mod feed;
mod install;
mod pace;
mod place;
mod players;
mod record;
mod report;
mod rules;
mod screen;
mod stop;
mod table;
mod tenants;
mod walk;
mod workers;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use fairgate_admin::{Admin, Listening};
use sqlx::PgConnection;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::args::DemoArgs;
use crate::error::CliError;
use crate::{admin, database, output};
use crew::Crew;
use drive::{Ending, Stage, drive};
use endpoint::Endpoint;
use feed::Fed;
use place::Place;
use players::Played;
use record::Final;
use report::Report;
use rules::{FACTORS, Route};
use stop::{INTERRUPTED, Stop};
use tenants::Tenants;
use walk::Walk;

/// Connections of the workers, all together.
const WORKER_CONNECTIONS: u32 = 16;
/// Shorter than the patience of a second Ctrl-C.
const TIDY_UP_WITHIN: Duration = Duration::from_secs(4);

/// Runs the demo to its exit code: 0 when everything was done exactly once and no limit was exceeded.
pub(crate) async fn run(args: &DemoArgs) -> Result<ExitCode, CliError> {
    let mut stop = Stop::listen()?;
    let walk = Arc::new(Walk::recorded());
    introduce(args, &walk);
    let place = tokio::select! {
        place = Place::open(&args.database) => place?,
        () = stop.asked() => return Ok(INTERRUPTED.into()),
    };
    place.introduce();
    output::say(
        "setting up: the tables of fairgate and of the queue, the policies, the record that is audited at the end",
    );
    let outcome = play(args, walk, &place, &mut stop).await;
    place.close().await;
    outcome
}

fn introduce(args: &DemoArgs, walk: &Walk) {
    output::say(&format!(
        "fairgate demo: {} recorded GitHub events ({} rows of one walk) are deliveries to the owners of {} accounts.\n\
         The walk is replayed every {} s, each time as new deliveries, and the three busiest accounts are multiplied by {}.",
        walk.events().count(),
        walk.rows,
        walk.owners.len(),
        pace::REPLAY_EVERY.as_secs(),
        FACTORS.map(|factor| factor.to_string()).join(", ")
    ));
    let policies = Route::ALL.map(|route| format!("{}: {}", route.policy(), route.gates()));
    output::say(&format!("policies: {}", policies.join("; ")));
    output::say(&match Played::of(&args.queue) {
        Some(_) => {
            format!("queue: {}, its SQL played by {} loops in this process", args.queue, players::LOOPS)
        }
        None => format!("queue: {}, {} workers in this process", args.queue, workers::WORKERS),
    });
}

async fn play(
    args: &DemoArgs,
    walk: Arc<Walk>,
    place: &Place,
    stop: &mut Stop,
) -> Result<ExitCode, CliError> {
    let played = Played::of(&args.queue);
    // Before anything is set up, so that a port that is taken leaves nothing behind.
    let pages = match args.headless {
        true => None,
        false => Some(listen(args.port, place).await?),
    };
    let (mut stage, producer) = tokio::select! {
        stage = set_up(walk, place, played) => stage?,
        () = stop.asked() => return Ok(INTERRUPTED.into()),
    };
    let admin = pages.map(admin::serve);
    let begun = Instant::now();
    let ending = drive(&mut stage, producer, args.duration, stop).await;
    let Stage { walk, tenants, endpoint, crew, mut observer } = stage;
    if let Some(admin) = admin {
        admin.close().await;
    }
    let fed = match ending {
        Ok(Ending::Over(fed)) => fed,
        unfinished => {
            drop(crew);
            tidy_up(&mut observer, played).await;
            return unfinished.map(|_| INTERRUPTED.into());
        }
    };
    crew.dismiss().await;
    let took = begun.elapsed();
    record::received(&mut observer, &endpoint.take()).await?;
    let report = report(&walk, &tenants, fed, took, &mut observer).await;
    tidy_up(&mut observer, played).await;
    let (report, finals) = report?;
    if args.output.json {
        output::print_json(&report)?;
    } else {
        let width = crossterm::terminal::size().map_or(100, |(width, _)| width.into());
        output::print(&report.text(&tenants, &finals, width))?;
    }
    if report.is_good() {
        return Ok(ExitCode::SUCCESS);
    }
    output::say("error: not every delivery was done exactly once within the limits; the result says which");
    Ok(ExitCode::FAILURE)
}

/// The admin pages of the demo, for this machine alone.
async fn listen(port: u16, place: &Place) -> Result<Listening, CliError> {
    let pages = Admin::new(database::admin_pool(&place.database, false)?);
    let listening = fairgate_admin::bind(pages, admin::local(port), false).await;
    listening
        .map_err(|error| CliError::from(error).hint("--port names another port, --headless serves no pages"))
}

/// Everything in place, nothing staged yet; and a connection to stage with.
async fn set_up(
    walk: Arc<Walk>,
    place: &Place,
    played: Option<Played>,
) -> Result<(Stage, PgConnection), CliError> {
    let tenants = Arc::new(Tenants::of(&walk));
    let mut observer = database::connect(&place.database).await?;
    install::lock(&mut observer).await?;
    fairgate::migrate(&mut observer).await?;
    let endpoint = Endpoint::open(tenants.clone()).await?;
    let stop = CancellationToken::new();
    let pool = place.pool(WORKER_CONNECTIONS)?;
    let workers = match played {
        Some(played) => {
            played.install(&mut observer).await?;
            played.hire(&pool, endpoint.url(), &stop)
        }
        None => workers::hire(&pool, endpoint.url(), &stop).await?,
    };
    install::register(&mut observer, played).await?;
    install::clear(&mut observer, played).await?;
    record::open(&mut observer, &tenants).await?;
    let crew = Crew::start(place, workers, stop).await?;
    let producer = database::connect(&place.database).await?;
    Ok((Stage { walk, tenants, endpoint, crew, observer }, producer))
}

/// Audits the record.
async fn report(
    walk: &Walk,
    tenants: &Tenants,
    fed: Fed,
    took: Duration,
    conn: &mut PgConnection,
) -> Result<(Report, Vec<Final>), CliError> {
    let audit = audit::audit(conn).await?;
    let finals = record::finals(conn).await?;
    Ok((Report::new(walk, tenants, fed, &finals, audit, took), finals))
}

/// Leaves nothing of the demo at work in the database. What cannot be done in time is done by the next demo.
async fn tidy_up(conn: &mut PgConnection, played: Option<Played>) {
    let all = async {
        record::close(conn).await?;
        install::clear(conn, played).await
    };
    match tokio::time::timeout(TIDY_UP_WITHIN, all).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            output::say(&format!("warning: the next demo will tidy up what this one left. {error}"));
        }
        Err(_) => {
            output::say(
                "warning: the database did not answer; the next demo will tidy up what this one left",
            );
        }
    }
}

/// Names what failed in the database; use with `map_err`.
fn database_error(doing: &'static str) -> impl FnOnce(sqlx::Error) -> CliError {
    move |source| fairgate::DatabaseError { doing, source }.into()
}
