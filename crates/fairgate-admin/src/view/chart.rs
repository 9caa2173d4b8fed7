//! Numbers over time as small pictures, drawn here: axes with units, hover values, no script.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use super::number;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 22.0;

/// A line, or a layer of a stack. `class` is its colour: `s0` to `s7`.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) class: usize,
    /// One for each time; none: not known.
    pub(crate) values: Vec<Option<f64>>,
}

/// A chart.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    /// What the numbers are, as in `jobs/min`.
    pub(crate) unit: &'a str,
    pub(crate) times: &'a [DateTime<Utc>],
    pub(crate) series: Vec<Series>,
    /// Layers on one another, as bars; else lines.
    pub(crate) stacked: bool,
    /// A limit to draw beside, with its name.
    pub(crate) limit: Option<(f64, String)>,
}

impl Chart<'_> {
    /// The chart as a figure, with a legend where there is more than one series.
    pub(crate) fn draw(&self) -> Markup {
        let top = nice(self.highest());
        html! {
            figure.chart {
                figcaption { (self.title) " " span.quiet { (self.unit) } }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(self.summary()) {
                    (axes(self.times, top))
                    @if self.stacked { (self.bars(top)) } @else { (self.lines(top)) }
                    @if let Some((limit, name)) = &self.limit {
                        @if *limit <= top {
                            line.limit x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y(*limit, top)) y2=(y(*limit, top)) { title { (name) ": " (number::amount(*limit)) } }
                        }
                    }
                    (self.hover())
                }
                @if self.series.len() > 1 || self.limit.is_some() {
                    ul.legend {
                        @for series in &self.series { li { span class={ "swatch s" (series.class) } {} (series.name) } }
                        @if let Some((limit, name)) = &self.limit { li { span.swatch.limit {} (name) " " (number::amount(*limit)) } }
                    }
                }
            }
        }
    }

    fn highest(&self) -> f64 {
        let of = |index: usize| {
            let values = self.series.iter().filter_map(|series| series.values.get(index).copied().flatten());
            if self.stacked { values.sum() } else { values.fold(0.0, f64::max) }
        };
        let numbers = (0..self.times.len()).map(of).fold(0.0, f64::max);
        match self.limit {
            // A limit far above the numbers would flatten them.
            Some((limit, _)) if limit <= numbers * 3.0 => numbers.max(limit),
            _ => numbers,
        }
    }

    fn lines(&self, top: f64) -> Markup {
        html! {
            @for series in &self.series {
                @let path = self.path(series, top);
                path class={ "line s" (series.class) } d=(path) {}
            }
        }
    }

    fn path(&self, series: &Series, top: f64) -> String {
        let mut path = String::new();
        let mut pen_down = false;
        for (index, value) in series.values.iter().enumerate() {
            match value {
                Some(value) => {
                    let step = if pen_down { 'L' } else { 'M' };
                    let middle = self.x(index) + self.width() / 2.0;
                    path += &format!("{step}{middle:.1} {:.1}", y(*value, top));
                    pen_down = true;
                }
                None => pen_down = false,
            }
        }
        path
    }

    fn bars(&self, top: f64) -> Markup {
        let gap = if self.width() > 4.0 { 1.0 } else { 0.0 };
        html! {
            @for index in 0..self.times.len() {
                @for (class, below, above) in self.layers(index) {
                    rect class={ "layer s" (class) } x=(fixed(self.x(index))) width=(fixed((self.width() - gap).max(0.5)))
                        y=(fixed(y(above, top))) height=(fixed(y(below, top) - y(above, top))) {}
                }
            }
        }
    }

    /// The layers at one time: colour, from, to.
    fn layers(&self, index: usize) -> Vec<(usize, f64, f64)> {
        let mut below = 0.0;
        let mut layers = Vec::new();
        for series in &self.series {
            let value = series.values.get(index).copied().flatten().unwrap_or(0.0);
            if value > 0.0 {
                layers.push((series.class, below, below + value));
                below += value;
            }
        }
        layers
    }

    /// One strip for each time, which tells its values when pointed at.
    fn hover(&self) -> Markup {
        html! {
            @for (index, time) in self.times.iter().enumerate() {
                rect.hover x=(fixed(self.x(index))) width=(fixed(self.width())) y=(TOP) height=(HEIGHT - TOP - BOTTOM) {
                    title { (time.format("%H:%M:%S")) " UTC" (self.values(index)) }
                }
            }
        }
    }

    fn values(&self, index: usize) -> String {
        let known = self.series.iter().filter_map(|series| {
            let value = series.values.get(index).copied().flatten()?;
            let is_shown = value != 0.0 || self.series.len() == 1;
            is_shown.then(|| format!("\n{}: {} {}", series.name, number::amount(value), self.unit))
        });
        known.collect()
    }

    /// For who cannot see it.
    fn summary(&self) -> String {
        let of = |series: &Series| {
            let known: Vec<f64> = series.values.iter().copied().flatten().collect();
            let last = known.last().copied().unwrap_or(0.0);
            let most = known.iter().copied().fold(0.0, f64::max);
            format!("{}: last {}, highest {}", series.name, number::amount(last), number::amount(most))
        };
        let all: Vec<String> = self.series.iter().map(of).collect();
        format!("{} over time, {}. {}", self.title, self.unit, all.join("; "))
    }

    fn width(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / self.times.len().max(1) as f64
    }

    fn x(&self, index: usize) -> f64 {
        LEFT + index as f64 * self.width()
    }
}

fn axes(times: &[DateTime<Utc>], top: f64) -> Markup {
    let plot = WIDTH - LEFT - RIGHT;
    let marks: Vec<(f64, String)> = (0..4)
        .filter_map(|part| {
            let time = times.get(part * times.len().saturating_sub(1) / 3)?;
            Some((LEFT + plot * part as f64 / 3.0, time.format("%H:%M").to_string()))
        })
        .collect();
    html! {
        @for part in 0..=2 {
            @let value = top * f64::from(part) / 2.0;
            line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(fixed(y(value, top))) y2=(fixed(y(value, top))) {}
            text.axis x=(LEFT - 5.0) y=(fixed(y(value, top) + 4.0)) text-anchor="end" { (short(value)) }
        }
        @for (index, (x, text)) in marks.iter().enumerate() {
            @let anchor = match index { 0 => "start", 3 => "end", _ => "middle" };
            text.axis x=(fixed(*x)) y=(HEIGHT - 6.0) text-anchor=(anchor) { (text) }
        }
    }
}

fn y(value: f64, top: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - (value / top).clamp(0.0, 1.0))
}

fn fixed(number: f64) -> String {
    format!("{number:.1}")
}

/// The least of 1, 2, 5, 10, 20, .. that is not below.
fn nice(highest: f64) -> f64 {
    let highest = if highest.is_finite() { highest.max(1.0) } else { 1.0 };
    let power = 10_f64.powf(highest.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|step| step * power).find(|top| *top >= highest).unwrap_or(power * 10.0)
}

/// `0.5`, `20`, `1.5k`, `2M`.
fn short(number: f64) -> String {
    let (part, unit) = match number {
        n if n >= 1e9 => (n / 1e9, "G"),
        n if n >= 1e6 => (n / 1e6, "M"),
        n if n >= 1e3 => (n / 1e3, "k"),
        n => (n, ""),
    };
    let digits = if part.fract() == 0.0 { format!("{part:.0}") } else { format!("{part:.1}") };
    format!("{digits}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number_that_is_not_below() {
        let tops = [0.0, 1.0, 1.5, 3.0, 6.0, 11.0, 450.0, 999.0, 1001.0].map(nice);
        assert_eq!(tops, [1.0, 1.0, 2.0, 5.0, 10.0, 20.0, 500.0, 1000.0, 2000.0]);
        assert_eq!([0.0, 2.5, 1500.0, 2e6].map(short), ["0", "2.5", "1.5k", "2M"]);
    }

    #[test]
    fn a_chart_tells_its_numbers_to_those_who_cannot_see_it() {
        let times = [DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH];
        let series = vec![Series { name: "<a>".to_owned(), class: 0, values: vec![Some(2.0), None] }];
        let chart = Chart { title: "t", unit: "jobs", times: &times, series, stacked: false, limit: None };
        let text = chart.draw().into_string();
        assert!(text.contains("&lt;a&gt;: last 2, highest 2"), "{text}");
    }
}
