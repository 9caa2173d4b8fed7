//! `/api/v1`: what the command prints with `--json`, and what the charts show. Described in `assets/openapi.json`.

use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use axum::{Json, Router};
use fairgate::audit::{self, Entry};
use fairgate::observe::{
    self, JobExplanation, PageMark, PartitionExplanation, PartitionList, PartitionSort, PartitionsAsked,
    PolicyList, PolicyNumbers, PolicyStatus, QueueStatus, Shares, Status, Trend,
};
use fairgate::overrides::{self, Override};
use fairgate::quarantine::{self, QuarantinedJob};
use fairgate::{JobId, PartitionKey, PolicyName};
use fairgate_core::definition::Definition;
use fairgate_core::hint::Hint;
use serde::Serialize;

use crate::admin::Shared;
use crate::failure::Failure;
use crate::page::{Asked, Window, given};

/// The description of all of it.
const OPENAPI: &str = include_str!("../assets/openapi.json");
/// Rows of a list unless it is said.
const ROWS: u32 = 50;
/// The most rows of a list.
const MOST: u32 = 1_000;
/// Steps of a trend.
const STEPS: u16 = 60;

type Answer<T> = Result<Json<T>, Failure>;

/// Every address below `/api/v1`.
fn routes() -> Vec<(&'static str, MethodRouter<Shared>)> {
    vec![
        ("/status", get(status)),
        ("/hints", get(hints)),
        ("/queues", get(queues)),
        ("/trend", get(trend)),
        ("/policies", get(policies)),
        ("/policies/{policy}", get(policy)),
        ("/policies/{policy}/overrides", get(overrides_of)),
        ("/partitions/{policy}", get(partitions)),
        ("/explain/{policy}", get(explain)),
        ("/jobs/{job_id}", get(job)),
        ("/quarantine", get(quarantined)),
        ("/audit", get(trail)),
        ("/openapi.json", get(openapi)),
    ]
}

pub(crate) fn router() -> Router<Shared> {
    routes().into_iter().fold(Router::new(), |router, (path, method)| router.route(path, method))
}

async fn openapi() -> Response {
    ([(CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

async fn status(State(admin): State<Shared>) -> Answer<Status> {
    let mut conn = admin.connection().await?;
    Ok(Json(observe::status(&mut *observe::reading(&mut conn).await?).await?))
}

#[derive(Serialize)]
struct Hints {
    hints: Vec<Hint>,
}

async fn hints(State(admin): State<Shared>) -> Answer<Hints> {
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let status = observe::status(&mut tx).await?;
    let numbers = observe::policy_numbers(&mut tx).await?;
    Ok(Json(Hints { hints: observe::hints(&mut tx, admin.engine(), &status, &numbers).await? }))
}

#[derive(Serialize)]
struct Queues {
    queues: Vec<QueueStatus>,
}

async fn queues(State(admin): State<Shared>) -> Answer<Queues> {
    let mut conn = admin.connection().await?;
    Ok(Json(Queues { queues: observe::queues(&mut *observe::reading(&mut conn).await?).await? }))
}

async fn trend(State(admin): State<Shared>, Query(asked): Asked) -> Answer<Trend> {
    let policy: Option<PolicyName> = given(&asked, "policy").map(str::parse).transpose()?;
    let window = given(&asked, "window");
    if let Some(window) = window.filter(|window| !Window::NAMES.contains(window)) {
        return Err(Failure::bad(format!("window {window:?} is none of {}", Window::NAMES.join(", "))));
    }
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    Ok(Json(observe::trend(&mut tx, policy.as_ref(), Window::of(window).step(), STEPS).await?))
}

async fn policies(State(admin): State<Shared>) -> Answer<PolicyList> {
    let mut conn = admin.connection().await?;
    Ok(Json(PolicyList { policies: observe::policies(&mut *observe::reading(&mut conn).await?).await? }))
}

#[derive(Serialize)]
struct PolicyDetail {
    #[serde(flatten)]
    status: PolicyStatus,
    numbers: Option<PolicyNumbers>,
    fairness: Shares,
}

async fn policy(State(admin): State<Shared>, Path(policy): Path<String>) -> Answer<PolicyDetail> {
    let policy: PolicyName = policy.parse()?;
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let status = observe::policies(&mut tx).await?.into_iter().find(|status| status.name == policy.as_str());
    let status =
        status.ok_or_else(|| Failure::not_found(format!("policy \"{policy}\" is not registered")))?;
    let numbers =
        observe::policy_numbers(&mut tx).await?.into_iter().find(|numbers| numbers.name == policy.as_str());
    let rules: Option<Definition> = serde_json::from_value(status.definition.clone()).ok();
    let half_life =
        rules.and_then(|rules| rules.fairness_half_life).unwrap_or(admin.engine().fairness_half_life);
    let fairness = observe::shares(&mut tx, &policy, half_life.duration()).await?;
    Ok(Json(PolicyDetail { status, numbers, fairness }))
}

#[derive(Serialize)]
struct Overrides {
    policy: PolicyName,
    overrides: Vec<Override>,
}

async fn overrides_of(State(admin): State<Shared>, Path(policy): Path<String>) -> Answer<Overrides> {
    let policy: PolicyName = policy.parse()?;
    let mut conn = admin.connection().await?;
    let overrides = overrides::list(&mut *observe::reading(&mut conn).await?, &policy, None).await?;
    Ok(Json(Overrides { policy, overrides }))
}

async fn partitions(
    State(admin): State<Shared>,
    Path(policy): Path<String>,
    Query(asked): Asked,
) -> Answer<PartitionList> {
    let policy: PolicyName = policy.parse()?;
    let sort = match given(&asked, "sort") {
        None => PartitionSort::default(),
        Some(name) => PartitionSort::from_name(name).ok_or_else(|| {
            Failure::bad(format!("sort {name:?} is none of {}", PartitionSort::NAMES.join(", ")))
        })?,
    };
    let after: Option<PageMark> = asked
        .get("after")
        .map(|mark| mark.parse())
        .transpose()
        .map_err(|problem: &str| Failure::bad(problem))?;
    let search = given(&asked, "search").map(str::to_owned);
    let waiting = given(&asked, "waiting").is_some();
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let page = PartitionsAsked { search, sort, waiting, after };
    Ok(Json(observe::partition_page(&mut tx, &policy, &page, limit(&asked)?).await?))
}

async fn explain(
    State(admin): State<Shared>,
    Path(policy): Path<String>,
    Query(asked): Asked,
) -> Answer<PartitionExplanation> {
    let policy: PolicyName = policy.parse()?;
    let key: PartitionKey = asked.get("key").map_or("", String::as_str).parse()?;
    let mut conn = admin.connection().await?;
    Ok(Json(observe::explain_partition(&mut conn, &admin.means.policies, &policy, &key, None).await?))
}

async fn job(State(admin): State<Shared>, Path(job): Path<String>) -> Answer<JobExplanation> {
    let job: JobId = job.parse()?;
    let mut conn = admin.connection().await?;
    Ok(Json(observe::explain_job(&mut conn, &admin.means.policies, job, None).await?))
}

#[derive(Serialize)]
struct Quarantined {
    jobs: Vec<QuarantinedJob>,
}

async fn quarantined(State(admin): State<Shared>, Query(asked): Asked) -> Answer<Quarantined> {
    let policy: Option<PolicyName> = given(&asked, "policy").map(str::parse).transpose()?;
    let mut conn = admin.connection().await?;
    let jobs = quarantine::list(&mut *observe::reading(&mut conn).await?, policy.as_ref()).await?;
    Ok(Json(Quarantined { jobs }))
}

#[derive(Serialize)]
struct Trail {
    entries: Vec<Entry>,
}

async fn trail(State(admin): State<Shared>, Query(asked): Asked) -> Answer<Trail> {
    let policy: Option<PolicyName> = given(&asked, "policy").map(str::parse).transpose()?;
    let before = match given(&asked, "before") {
        None => None,
        Some(id) => {
            Some(id.parse().map_err(|_| Failure::bad(format!("before {id:?} is no number of an entry")))?)
        }
    };
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    Ok(Json(Trail { entries: audit::list(&mut tx, policy.as_ref(), None, before, limit(&asked)?).await? }))
}

fn limit(asked: &std::collections::HashMap<String, String>) -> Result<u32, Failure> {
    let Some(text) = given(asked, "limit") else { return Ok(ROWS) };
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| Failure::bad(format!("limit is {text:?}; give a whole number from 1 to {MOST}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_has_every_address_and_no_other() {
        let described: serde_json::Value = serde_json::from_str(OPENAPI).expect("JSON");
        let described: Vec<&str> =
            described["paths"].as_object().expect("paths").keys().map(String::as_str).collect();
        let mut routed: Vec<String> = routes().iter().map(|(path, _)| format!("/api/v1{path}")).collect();
        routed.sort_unstable();
        assert_eq!(described, routed);
    }
}
