//! Operations as data.

use fairgate::audit::Operation;
use fairgate::force::{self, Forced, Means};
use fairgate::overrides::{self, NewOverride, Target};
use fairgate::{JobId, PartitionKey, PolicyName, operate, quarantine};
use sqlx::PgConnection;

use crate::failure::Failure;
use crate::view::number::jobs;

/// What is to be done.
#[derive(Debug, Clone)]
pub(super) enum Work {
    SwitchEngine(bool),
    SwitchPolicy(PolicyName, bool),
    Pause(PolicyName, Option<PartitionKey>),
    Resume(PolicyName, Option<PartitionKey>),
    Drain(PolicyName, Option<PartitionKey>),
    Admit(PolicyName, PartitionKey, u32),
    Override(PolicyName, PartitionKey, NewOverride),
    ClearOverride(PolicyName, PartitionKey, Target),
    Cancel(JobId),
    Restage(JobId),
    Drop(JobId),
    RestageAll(PolicyName),
    DropAll(PolicyName),
}

impl Work {
    /// What the trail says of it.
    pub(super) fn operation(&self) -> Operation {
        let none = Operation::default();
        let of = |action, policy: &PolicyName, partition: Option<&PartitionKey>| Operation {
            action,
            policy: Some(policy.clone()),
            partition: partition.cloned(),
            ..Operation::default()
        };
        let word = |on: bool| if on { "enable" } else { "disable" };
        match self {
            Self::SwitchEngine(on) => Operation { action: word(*on), ..none },
            Self::SwitchPolicy(policy, on) => of(word(*on), policy, None),
            Self::Pause(policy, partition) => of("pause", policy, partition.as_ref()),
            Self::Resume(policy, partition) => of("resume", policy, partition.as_ref()),
            Self::Drain(policy, partition) => of("drain", policy, partition.as_ref()),
            Self::Admit(policy, partition, count) => {
                Operation { detail: Some(format!("count {count}")), ..of("admit", policy, Some(partition)) }
            }
            Self::Override(policy, partition, new) => {
                let lasts = fairgate_core::duration::format_duration(new.lasts);
                let detail = format!("{}={} for {lasts}: {}", new.target, new.value, new.reason);
                Operation { detail: Some(detail), ..of("override", policy, Some(partition)) }
            }
            Self::ClearOverride(policy, partition, target) => {
                Operation { detail: Some(target.to_string()), ..of("end override", policy, Some(partition)) }
            }
            Self::Cancel(job) => Operation { action: "cancel", job: Some(*job), ..none },
            Self::Restage(job) => Operation { action: "restage", job: Some(*job), ..none },
            Self::Drop(job) => Operation { action: "drop", job: Some(*job), ..none },
            Self::RestageAll(policy) => of("restage all", policy, None),
            Self::DropAll(policy) => of("drop all", policy, None),
        }
    }

    /// Carries it out; says how things are now.
    pub(super) async fn run(self, means: &Means, conn: &mut PgConnection) -> Result<String, Failure> {
        let now = |text: String, changed: bool| if changed { text } else { format!("{text} already") };
        match self {
            Self::SwitchEngine(on) => {
                let changed = operate::set_enabled(conn, on).await?;
                Ok(now(format!("fairgate is {}", switched(on)), changed))
            }
            Self::SwitchPolicy(policy, on) => {
                let changed = operate::set_policy_enabled(conn, &policy, on).await?;
                Ok(now(format!("policy \"{policy}\" is {}", switched(on)), changed))
            }
            Self::Pause(policy, partition) => {
                let changed = match &partition {
                    Some(partition) => operate::pause_partition(conn, &policy, partition).await?,
                    None => operate::pause(conn, &policy).await?,
                };
                Ok(now(format!("{} is paused", what(&policy, partition.as_ref())), changed))
            }
            Self::Resume(policy, partition) => {
                let changed = match &partition {
                    Some(partition) => operate::resume_partition(conn, &policy, partition).await?,
                    None => operate::resume(conn, &policy).await?,
                };
                Ok(now(format!("{} is not paused", what(&policy, partition.as_ref())), changed))
            }
            Self::Drain(policy, partition) => {
                let forced = force::drain(conn, means, &policy, partition.as_ref()).await?;
                Ok(told(&forced))
            }
            Self::Admit(policy, partition, count) => {
                Ok(told(&force::admit(conn, means, &policy, &partition, count).await?))
            }
            Self::Override(policy, partition, new) => {
                let made = overrides::make(conn, &policy, &partition, &new).await?;
                Ok(format!(
                    "{}.{} is {} until {}",
                    made.gate,
                    made.parameter,
                    made.value,
                    made.until.format("%Y-%m-%d %H:%M UTC")
                ))
            }
            Self::ClearOverride(policy, partition, target) => {
                let ended = overrides::clear(conn, &policy, &partition, Some(&target)).await?;
                Ok(if ended > 0 {
                    format!("{target} is as declared again")
                } else {
                    format!("{target} was not overridden")
                })
            }
            Self::Cancel(job) => {
                let cancelled = fairgate::cancel(conn, job).await?;
                cancelled
                    .then(|| format!("job {job} is cancelled"))
                    .ok_or_else(|| absent(job, "does not wait (any more)"))
            }
            Self::Restage(job) => {
                let done = quarantine::restage(conn, &[job]).await?;
                (!done.is_empty())
                    .then(|| format!("job {job} is restaged"))
                    .ok_or_else(|| absent(job, "is not quarantined (any more)"))
            }
            Self::Drop(job) => {
                let done = quarantine::drop(conn, &[job]).await?;
                (!done.is_empty())
                    .then(|| format!("job {job} is dropped"))
                    .ok_or_else(|| absent(job, "is not quarantined (any more)"))
            }
            Self::RestageAll(policy) => {
                let all = quarantined(conn, &policy).await?;
                Ok(format!("{} restaged", jobs(quarantine::restage(conn, &all).await?.len() as i64)))
            }
            Self::DropAll(policy) => {
                let all = quarantined(conn, &policy).await?;
                Ok(format!("{} dropped", jobs(quarantine::drop(conn, &all).await?.len() as i64)))
            }
        }
    }
}

async fn quarantined(conn: &mut PgConnection, policy: &PolicyName) -> Result<Vec<JobId>, Failure> {
    Ok(quarantine::list(conn, Some(policy)).await?.into_iter().map(|job| job.job_id).collect())
}

const fn switched(on: bool) -> &'static str {
    if on { "enabled" } else { "disabled" }
}

fn absent(job: JobId, why: &str) -> Failure {
    Failure::not_found(format!("job {job} {why}"))
}

fn what(policy: &PolicyName, partition: Option<&PartitionKey>) -> String {
    match partition {
        Some(partition) => format!("partition {:?} of policy \"{policy}\"", partition.as_str()),
        None => format!("policy \"{policy}\""),
    }
}

fn told(forced: &Forced) -> String {
    let mut text = format!("{} admitted", jobs(i64::try_from(forced.admitted).unwrap_or(i64::MAX)));
    if forced.refused > 0 {
        text += &format!("; the queue refused {}, which are tried again", forced.refused);
    }
    if forced.waiting > 0 {
        text += &format!("; {} still waiting", forced.waiting);
    }
    if forced.scheduled > 0 {
        text += &format!("; {} scheduled for later", forced.scheduled);
    }
    text
}
