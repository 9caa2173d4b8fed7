//! Charts of what ticks did.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use fairgate::observe::{Bucket, Trend};
use fairgate_core::reason::DenyReason;
use maud::{Markup, html};

use super::Window;
use crate::view::chart::{Chart, Series};

/// The colours of a chart.
const COLOURS: usize = 8;

/// All of them. `target`: jobs a minute that the queue can take; `tick_max`: milliseconds.
pub(crate) fn all(trend: &Trend, window: Window, target: Option<f64>, tick_max: f64) -> Markup {
    let times: Vec<DateTime<Utc>> = trend.buckets.iter().map(|bucket| bucket.at).collect();
    let one = |name: &str, class, value: &dyn Fn(&Bucket) -> Option<f64>| {
        let values = trend.buckets.iter().map(value).collect();
        Series { name: name.to_owned(), class, values }
    };
    let rate = Chart {
        title: "Admitted",
        unit: "jobs/min",
        times: &times,
        series: vec![one("admitted", 0, &|bucket| Some(window.per_minute(bucket.admitted)))],
        stacked: true,
        limit: target.map(|target| (target, "target".to_owned())),
    };
    let waiting = Chart {
        title: "Waiting and in flight",
        unit: "jobs",
        times: &times,
        series: vec![
            one("waiting", 1, &|bucket| bucket.pending.map(|jobs| jobs as f64)),
            one("in flight", 2, &|bucket| bucket.in_flight.map(|jobs| jobs as f64)),
        ],
        stacked: false,
        limit: None,
    };
    let denied = Chart {
        title: "Looks that admitted nothing, by reason",
        unit: "looks/min",
        times: &times,
        series: reasons(trend, window),
        stacked: true,
        limit: None,
    };
    let ticks = Chart {
        title: "Slowest tick",
        unit: "ms",
        times: &times,
        series: vec![one("slowest tick", 3, &|bucket| bucket.slowest_tick_ms)],
        stacked: false,
        limit: Some((tick_max, "tick_max_duration".to_owned())),
    };
    html! { div.charts { (rate.draw()) (waiting.draw()) (denied.draw()) (ticks.draw()) } }
}

/// A layer for each reason, in the order of the list of reasons; those of shadow gates last.
fn reasons(trend: &Trend, window: Window) -> Vec<Series> {
    let mut found: BTreeMap<(usize, String), Vec<Option<f64>>> = BTreeMap::new();
    for (index, bucket) in trend.buckets.iter().enumerate() {
        for denial in &bucket.denials {
            let place = DenyReason::ALL.iter().position(|reason| reason.code() == denial.reason);
            let values = found
                .entry((place.unwrap_or(DenyReason::ALL.len()), denial.reason.clone()))
                .or_insert_with(|| vec![Some(0.0); trend.buckets.len()]);
            values[index] = Some(window.per_minute(denial.looks));
        }
    }
    let series = |((place, code), values): ((usize, String), _)| {
        let name = DenyReason::from_code(&code).map_or(code, |reason| reason.label().to_owned());
        Series { name, class: place % COLOURS, values }
    };
    found.into_iter().map(series).collect()
}
