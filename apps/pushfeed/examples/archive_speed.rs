//! How fast an archive is imported, beside a raw COPY of the same rows into tables with the same indexes.
//!
//! `DATABASE_URL=postgres://.../an_empty_database cargo run --release -p pushfeed --example archive_speed -- 300000`

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::StreamExt;
use pushfeed::{App, Config, ingest, setup};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;
use tokio::io::AsyncReadExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let count: u64 = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse())?;
    let app =
        App::new(Config::read(|name| std::env::var(name).ok()).map_err(|problems| format!("{problems:?}"))?)?;
    setup::ensure(&app).await?;
    let path = std::env::temp_dir().join(format!("archive-speed-{}.json.gz", std::process::id()));
    pack(&path, count)?;
    let mut conn = app.connect().await?;
    let started = Instant::now();
    let imported = ingest::archive::import(&mut conn, &path, &|_| {}).await?;
    let import = started.elapsed();
    std::fs::remove_file(&path)?;
    let mut copy = std::time::Duration::ZERO;
    for table in ["push_event", "entity"] {
        copy += copied(&mut conn, table).await?;
    }
    let rate = |time: std::time::Duration| count as f64 / time.as_secs_f64();
    println!("{} events created of {count}", imported.counts.created);
    println!(
        "import {:.0} events/s, raw COPY {:.0} events/s, ratio {:.2}",
        rate(import),
        rate(copy),
        copy.as_secs_f64() / import.as_secs_f64()
    );
    println!("largest memory {} MB", peak_memory());
    Ok(())
}

/// Events of as many actors and repositories as an hour of the archive has, in order of time.
fn pack(path: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    let mut packed =
        GzEncoder::new(std::io::BufWriter::new(std::fs::File::create(path)?), Compression::fast());
    for n in 1..=count {
        let (actor, repository) = (
            n.wrapping_mul(2_654_435_761) % (count / 4 + 1) + 1,
            n.wrapping_mul(40_503) % (count / 3 + 1) + 1,
        );
        let time = chrono::DateTime::from_timestamp(1_700_000_000 + i64::try_from(n / 30)?, 0)
            .ok_or("a time")?
            .to_rfc3339();
        let sha = format!("{:040x}", u128::from(n) * 0x9e37_79b9_7f4a_7c15_f39c);
        writeln!(
            packed,
            "{{\"id\":\"{}\",\"type\":\"PushEvent\",\"actor\":{{\"id\":{actor},\"login\":\"user-{actor}\",\"display_login\":\"user-{actor}\",\"gravatar_id\":\"\",\"url\":\"https://api.github.com/users/user-{actor}\",\"avatar_url\":\"https://avatars.githubusercontent.com/u/{actor}?\"}},\
             \"repo\":{{\"id\":{repository},\"name\":\"user-{actor}/repo-{repository}\",\"url\":\"https://api.github.com/repos/user-{actor}/repo-{repository}\"}},\"payload\":{{\"repository_id\":{repository},\"push_id\":{n},\"size\":1,\"distinct_size\":1,\"ref\":\"refs/heads/main\",\"head\":\"{sha}\",\"before\":\"{sha}\",\
             \"commits\":[{{\"sha\":\"{sha}\",\"author\":{{\"email\":\"a@example.invalid\",\"name\":\"A\"}},\"message\":\"A message of a commit\",\"distinct\":true,\"url\":\"https://api.github.com/repos/user-{actor}/repo-{repository}/commits/{sha}\"}}]}},\"public\":true,\"created_at\":\"{time}\"}}",
            30_000_000_000 + n
        )?;
    }
    packed.finish()?;
    Ok(())
}

/// The time that a raw COPY of a table's rows takes into one like it.
async fn copied(conn: &mut PgConnection, table: &str) -> Result<std::time::Duration, Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("archive-speed-{}.copy", std::process::id()));
    let like = format!(
        "DROP TABLE IF EXISTS public.{table}; CREATE TABLE public.{table} (LIKE pushfeed.{table} INCLUDING ALL)"
    );
    sqlx::raw_sql(AssertSqlSafe(like)).execute(&mut *conn).await?;
    let mut file = std::fs::File::create(&path)?;
    let mut out = conn.copy_out_raw(&format!("COPY pushfeed.{table} TO STDOUT")).await?;
    while let Some(part) = out.next().await {
        file.write_all(&part?)?;
    }
    drop(out);
    let mut file = tokio::fs::File::open(&path).await?;
    let started = Instant::now();
    let mut copy = conn.copy_in_raw(&format!("COPY public.{table} FROM STDIN")).await?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = file.read(&mut buffer).await?;
        if read == 0 {
            break;
        }
        copy.send(&buffer[..read]).await?;
    }
    copy.finish().await?;
    let took = started.elapsed();
    std::fs::remove_file(&path)?;
    Ok(took)
}

/// In megabytes, where the system tells.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok())
        .map_or("unknown".to_owned(), |kb| (kb / 1024).to_string())
}
