//! One file for each page.

mod audit;
mod charts;
mod dashboard;
mod facts;
mod fairness;
mod job;
mod partition;
mod partitions;
mod policies;
mod policy;
mod quarantine;
mod window;

pub(crate) use audit::audit;
pub(crate) use dashboard::dashboard;
pub(crate) use job::{find_job, job};
pub(crate) use partitions::{partitions, partitions_of};
pub(crate) use policies::policies;
pub(crate) use policy::policy;
pub(crate) use quarantine::quarantine;
pub(crate) use window::Window;

use std::collections::HashMap;

use axum::extract::Query;

/// What stands behind the `?`; what is not there is left out.
pub(crate) type Asked = Query<HashMap<String, String>>;

/// A value of it that is not blank.
pub(crate) fn given<'a>(asked: &'a HashMap<String, String>, name: &str) -> Option<&'a str> {
    asked.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
}
