//! The throttle's promise, checked from a log of looks: in every window at most `burst + rate * window` jobs.

/// One look of a tick at a throttled partition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    /// The instant of the decision, in microseconds.
    pub(super) at_us: i64,
    /// The first look of a partition that was created, or came back after its removal.
    pub(super) fresh: bool,
    /// The parameters in force, jobs a second and jobs. None: they could not be read, nothing may be taken.
    pub(super) limits: Option<(f64, f64)>,
    /// Jobs admitted.
    pub(super) taken: i64,
    /// An operator took them past the gates: what is too many is a debt, and nothing else is taken until time has paid it.
    pub(super) forced: bool,
}

/// Jobs; what is lost when times and rates are added up as floats.
const TOLERANCE: f64 = 1e-6;

/// The first window that holds too many, in words. Looks stand in the order of the partition's lock.
///
/// A window opens at a look, when the bucket holds its burst at most, and gains at each later time what the parameters in force at the look
/// before gain: with constant parameters that is `burst + rate * window`, and never more than with the largest in the window. Every window is
/// checked at once: the tightest one that ends at a look is known from the minimum over all that opened before. Two rules besides:
/// a bucket's own time never runs backwards; and a partition is removed only when its bucket is full, and comes back with a full one.
pub(super) fn overdrawn(looks: &[Look]) -> Option<String> {
    let (mut gained, mut taken, mut tightest) = (0.0_f64, 0_i64, f64::INFINITY);
    let mut before: Option<(i64, f64, f64)> = None;
    let mut new_bucket = false;
    for (index, look) in looks.iter().enumerate() {
        new_bucket |= look.fresh;
        let Some((rate, burst)) = look.limits else {
            if look.taken > 0 && !look.forced {
                return Some(format!("look {index} took {} jobs without a rate", look.taken));
            }
            continue;
        };
        let mut at = look.at_us;
        if let Some((before_at, before_rate, before_burst)) = before {
            at = at.max(before_at);
            gained += before_rate * (at - before_at) as f64 / 1e6;
            if new_bucket {
                gained += burst - before_burst;
            }
        }
        new_bucket = false;
        tightest = tightest.min(burst + taken as f64 - gained);
        taken += look.taken;
        let excess = taken as f64 - gained - tightest;
        if look.taken > 0 && !look.forced && excess > TOLERANCE {
            return Some(format!(
                "look {index} of {}: a window up to it holds {excess:.6} jobs too many",
                looks.len()
            ));
        }
        before = Some((at, rate, burst));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at_ms: i64, rate: f64, burst: f64, taken: i64) -> Look {
        Look { at_us: at_ms * 1_000, fresh: false, limits: Some((rate, burst)), taken, forced: false }
    }

    #[test]
    fn a_burst_and_then_the_rate_are_within_the_promise() {
        assert_eq!(
            overdrawn(&[look(0, 10.0, 5.0, 5), look(100, 10.0, 5.0, 1), look(600, 10.0, 5.0, 5)]),
            None
        );
    }

    #[test]
    fn one_job_too_many_is_found_in_the_middle_of_a_log() {
        let mut log = vec![look(0, 10.0, 5.0, 5), look(10_000, 10.0, 5.0, 5), look(10_100, 10.0, 5.0, 1)];
        log.push(look(10_150, 10.0, 5.0, 1));
        assert!(overdrawn(&log).is_some_and(|w| w.contains("look 3 of 4")));
        log[3].at_us += 50_000;
        assert_eq!(overdrawn(&log), None);
    }

    #[test]
    fn a_raised_burst_gives_nothing_by_itself() {
        assert!(overdrawn(&[look(0, 1.0, 2.0, 2), look(1, 1.0, 10.0, 2)]).is_some());
        assert_eq!(
            overdrawn(&[look(0, 1.0, 2.0, 2), look(1, 100.0, 10.0, 0), look(101, 1.0, 10.0, 10)]),
            None
        );
    }

    #[test]
    fn a_partition_that_comes_back_has_a_full_bucket_and_no_more() {
        let back = |taken| Look { fresh: true, ..look(2_000, 1.0, 5.0, taken) };
        assert_eq!(overdrawn(&[look(0, 1.0, 2.0, 2), back(5)]), None);
        assert!(overdrawn(&[look(0, 1.0, 2.0, 2), back(6)]).is_some());
    }

    #[test]
    fn a_bucket_that_came_back_too_early_is_found() {
        let back = Look { fresh: true, ..look(500, 1.0, 2.0, 2) };
        assert!(overdrawn(&[look(0, 1.0, 2.0, 2), back]).is_some());
    }

    #[test]
    fn a_debt_is_paid_before_anything_else_is_taken() {
        let forced = Look { forced: true, ..look(0, 1.0, 2.0, 5) };
        assert_eq!(overdrawn(&[forced, look(1_000, 1.0, 2.0, 0), look(4_000, 1.0, 2.0, 1)]), None);
        assert!(overdrawn(&[forced, look(3_900, 1.0, 2.0, 1)]).is_some());
    }

    #[test]
    fn time_that_runs_backwards_gives_nothing() {
        let log = [look(1_000, 1.0, 1.0, 1), look(0, 1.0, 1.0, 0), look(1_000, 1.0, 1.0, 1)];
        assert!(overdrawn(&log).is_some());
    }
}
