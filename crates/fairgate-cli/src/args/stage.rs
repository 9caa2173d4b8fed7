use std::path::PathBuf;

use clap::{ArgGroup, Args};
use fairgate::{JobId, PartitionKey, PolicyName};

use super::{DatabaseArgs, JsonArgs};

/// Stage a job, or a file of jobs
#[derive(Debug, Args)]
#[command(after_long_help = STAGE, group = ArgGroup::new("what").args(["task", "ndjson"]).required(true))]
pub(crate) struct StageArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// The policy to stage to
    pub(crate) policy: PolicyName,

    /// Many jobs, one JSON object a line, from a file or (-) from stdin: all of them or none
    #[arg(long, value_name = "FILE|-")]
    pub(crate) ndjson: Option<PathBuf>,

    /// The task that the queue's worker knows
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,

    #[command(flatten)]
    pub(crate) job: JobArgs,
}

/// What a single job may have besides its task.
#[derive(Debug, Args)]
pub(crate) struct JobArgs {
    /// What the task is given: JSON, @FILE, or - for stdin; kept byte for byte [default: {}]
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with = "ndjson")]
    pub(crate) payload: Option<String>,

    /// What the policy's templates and gates read: a JSON object [default: {}]
    #[arg(long, value_name = "JSON", conflicts_with = "ndjson")]
    pub(crate) context: Option<String>,

    /// The partition, instead of the one that the policy's partition_by computes
    #[arg(long, value_name = "KEY", conflicts_with = "ndjson")]
    pub(crate) partition_key: Option<PartitionKey>,

    /// Smaller goes first within the partition [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "ndjson")]
    pub(crate) priority: Option<i32>,

    /// Not before this time: 2030-01-31T12:00:00Z, or +10m from now
    #[arg(long, value_name = "TIME", conflicts_with = "ndjson")]
    pub(crate) run_at: Option<String>,

    /// Of the policy's jobs with this key one is enough; the policy's `dedupe` says until when, and which one
    #[arg(long, value_name = "KEY", conflicts_with = "ndjson")]
    pub(crate) dedupe_key: Option<String>,

    /// The queue's own queue name; also part of what templates read
    #[arg(long, value_name = "NAME", conflicts_with = "ndjson")]
    pub(crate) queue_name: Option<String>,

    /// How often the queue tries
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "ndjson")]
    pub(crate) max_attempts: Option<i32>,
}

const STAGE: &str = "\
Prints the job id and what became of it: `staged`, or `sent` if fairgate is disabled and the job
went straight to the queue.

A line of an NDJSON file is an object with task, and optionally payload, context, partition_key,
priority, run_at, queue_name and max_attempts. Blank lines are skipped. If any line is wrong,
nothing is staged, and the wrong lines are named.

Examples:
  fairgate stage webhooks --task deliver --context '{\"account_id\": 7}' --payload '{\"n\": 1}'
  fairgate stage reports --task build --payload @report.json --partition-key 7 --run-at +10m
  fairgate stage webhooks --ndjson jobs.ndjson
  jq -c '{task: \"build\", payload: ., context: {account_id}}' reports.json |
    fairgate stage reports --ndjson - --json";

/// Take jobs back that still wait in staging
#[derive(Debug, Args)]
#[command(after_long_help = CANCEL)]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// The ids that `fairgate stage` printed
    #[arg(required = true, value_name = "JOB_ID")]
    pub(crate) jobs: Vec<JobId>,
}

const CANCEL: &str = "\
Says of each job whether it was cancelled. Exits with 1 if any was not: it was admitted, cancelled
before, or never there. The others are cancelled all the same.

Examples:
  fairgate cancel 0198c2a4-7d1e-7000-8000-00000000002a";
