//! Chance from a seed, so that a run can be repeated in kind.

use std::time::Duration;

/// A stream of pseudo-random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Another stream, for a part of the run.
    pub(super) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to 1, without 1.
    pub(super) fn unit(&mut self) -> f64 {
        // 53 bits are what a float holds exactly.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something that has this probability happens.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number below `end`, which must not be 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// One of some, which must not be none.
    pub(super) fn pick<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len())]
    }

    /// A time between two, in milliseconds.
    pub(super) fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_micros(least * 1_000 + self.next() % ((most - least) * 1_000 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_stream_again() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn draws_stay_within_their_bounds() {
        let mut random = Random::new(1);
        for _ in 0..1_000 {
            assert!(random.unit() < 1.0);
            assert!(random.below(3) < 3);
            let time = random.millis(2, 4);
            assert!(time >= Duration::from_millis(2) && time <= Duration::from_millis(4));
        }
    }
}
