//! How much time charts show.

use std::time::Duration;

use maud::{Markup, html};

/// Steps of a chart.
pub(crate) const STEPS: u16 = 60;

/// How much time charts show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) name: &'static str,
    pub(crate) words: &'static str,
    step: u64,
}

const WINDOWS: [Window; 4] = [
    Window { name: "15m", words: "15 minutes", step: 15 },
    Window { name: "1h", words: "1 hour", step: 60 },
    Window { name: "6h", words: "6 hours", step: 360 },
    Window { name: "24h", words: "24 hours", step: 1_440 },
];

impl Window {
    /// The one of that name, else the shortest.
    pub(crate) fn of(name: Option<&str>) -> Self {
        WINDOWS.into_iter().find(|window| Some(window.name) == name).unwrap_or(WINDOWS[0])
    }

    /// Names of all.
    pub(crate) const NAMES: [&'static str; 4] = ["15m", "1h", "6h", "24h"];

    pub(crate) const fn step(self) -> Duration {
        Duration::from_secs(self.step)
    }

    /// From a number in a step to one in a minute.
    pub(crate) fn per_minute(self, number: i64) -> f64 {
        number as f64 * 60.0 / self.step as f64
    }

    /// Links to the others; `here` is the page's address.
    pub(crate) fn links(self, here: &str) -> Markup {
        html! {
            nav.windows aria-label="Time that the charts show" {
                @for window in WINDOWS {
                    a href={ (here) "?window=" (window.name) } aria-current=[(window == self).then_some("true")] { (window.words) }
                }
            }
        }
    }
}
