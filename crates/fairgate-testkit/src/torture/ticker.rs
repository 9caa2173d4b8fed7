//! A ticker process.

use std::process::ExitCode;
use std::time::Duration;

use fairgate::ticker::RunError;
use fairgate::{Settings, Ticker};
use sqlx::postgres::PgPoolOptions;

use super::role::{Part, Stop, stopped};

/// Serves every policy until told to stop. What is registered says how; no two tickers are set alike.
pub(super) async fn serve(part: &Part, stop: Stop) -> ExitCode {
    let pool = PgPoolOptions::new().max_connections(3).acquire_timeout(Duration::from_secs(5));
    let pool = match pool.connect_lazy(&part.url) {
        Ok(pool) => pool,
        Err(error) => {
            eprintln!("{}: {error}", part.name);
            return ExitCode::from(2);
        }
    };
    loop {
        let ticker = match Ticker::builder(pool.clone()).settings(settings(part.number)).build() {
            Ok(ticker) => ticker,
            Err(error) => {
                eprintln!("{}: {error}", part.name);
                return ExitCode::from(2);
            }
        };
        match ticker.run(stopped(stop.clone())).await {
            Ok(()) => return ExitCode::SUCCESS,
            // A connection that was ended while the ticker looked at the schema; a daemon's supervisor starts it again.
            Err(RunError::Database(error)) => {
                eprintln!("{}: {error}", part.name);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(error) => {
                eprintln!("{}: {error}", part.name);
                return ExitCode::from(3);
            }
        }
    }
}

fn settings(number: usize) -> Settings {
    let millis = Duration::from_millis;
    Settings {
        partition_batch_size: [50, 5, 20, 200][number % 4],
        admission_batch_size: [100, 3, 10, 100][number % 4],
        tick_admission_budget: [None, None, None, Some(30)][number % 4],
        idle_pause: millis([500, 20, 100, 500][number % 4]),
        sweep_every: millis(200),
        partition_inactive_after: Duration::ZERO,
        pooled: number % 4 == 1,
        ..Settings::default()
    }
}
