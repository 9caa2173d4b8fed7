//! How fair a window was.

use crate::sim::World;

/// What tenants got, beside their shares.
pub(crate) struct Window {
    pub(crate) got: Vec<f64>,
    pub(crate) fair: Vec<f64>,
}

/// The part of `total` that each weight is worth.
pub(crate) fn shares(weights: &[f64], total: f64) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| total * weight / sum).collect()
}

/// `count + 1` samples of running totals, so many ticks or rounds apart.
pub(crate) fn sample(
    world: &mut World,
    apart: usize,
    count: usize,
    total: fn(&World) -> Vec<f64>,
    run: fn(&mut World, usize),
) -> Vec<Vec<f64>> {
    let mut samples = vec![total(world)];
    for _ in 0..count {
        run(world, apart);
        samples.push(total(world));
    }
    samples
}

/// The windows of `length` between samples of running totals, with shares by weight.
pub(crate) fn windows(samples: &[Vec<f64>], weights: &[f64], length: usize) -> Vec<Window> {
    let pairs = samples.iter().zip(&samples[length..]);
    let window = |(from, to): (&Vec<f64>, &Vec<f64>)| {
        let got: Vec<f64> = to.iter().zip(from).map(|(to, from)| to - from).collect();
        let fair = shares(weights, got.iter().sum());
        Window { got, fair }
    };
    pairs.map(window).collect()
}

/// The window of all samples.
pub(crate) fn whole(samples: &[Vec<f64>], weights: &[f64]) -> Window {
    windows(samples, weights, samples.len() - 1).remove(0)
}

impl Window {
    /// The largest error past `part` of a share, in the unit of each tenant, among tenants whose share is one at least.
    pub(crate) fn error_in(&self, units: &[f64], part: f64) -> f64 {
        let tenants = self.got.iter().zip(&self.fair).zip(units);
        let own = tenants.filter(|((_, fair), unit)| *fair >= *unit);
        own.map(|((got, fair), unit)| ((got - fair).abs() - part * fair) / unit).fold(f64::MIN, f64::max)
    }

    /// The same in jobs, or in seconds.
    pub(crate) fn error(&self, part: f64) -> f64 {
        self.error_in(&vec![1.0; self.got.len()], part)
    }

    /// R. Jain's index of got / share: 1 when all are equal (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984).
    pub(crate) fn jain(&self) -> f64 {
        let parts: Vec<f64> = self.got.iter().zip(&self.fair).map(|(got, fair)| got / fair).collect();
        let sum: f64 = parts.iter().sum();
        let squares: f64 = parts.iter().map(|part| part * part).sum();
        sum * sum / (parts.len() as f64 * squares)
    }
}

/// The largest error past `part` in any of the windows.
pub(crate) fn worst(windows: &[Window], part: f64) -> f64 {
    windows.iter().map(|window| window.error(part)).fold(f64::MIN, f64::max)
}
