use std::time::Duration;

use proptest::prelude::*;

use crate::support::{Partition, SECOND, at, throttled};

/// Rate in jobs, per in microseconds, burst in jobs.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    rate: f64,
    per: i64,
    burst: f64,
}

impl Bucket {
    fn partition(self) -> Partition {
        let per = Duration::from_micros(u64::try_from(self.per).unwrap());
        Partition::of(&throttled(self.rate, per, self.burst))
    }

    /// `floor(burst + rate * time)` in whole numbers.
    fn bound(self, time: i64) -> u64 {
        let nano = |jobs: f64| (jobs * 1e9).round() as i128;
        let units = nano(self.burst) * i128::from(self.per) + nano(self.rate) * i128::from(time);
        u64::try_from(units / (i128::from(self.per) * 1_000_000_000)).unwrap()
    }
}

fn buckets() -> impl Strategy<Value = Bucket> {
    let known = prop::sample::select(vec![
        (0.1, SECOND),
        (7.0, 3 * SECOND),
        (1.0, 3600 * SECOND),
        (60.0, 60 * SECOND),
        (1.0 / 3.0, SECOND),
        (5000.0, SECOND),
    ]);
    let any = (0.001_f64..10_000.0, 1_000_i64..100_000_000_000);
    (prop_oneof![known, any], 1_u32..50).prop_map(|((rate, per), burst)| Bucket {
        rate,
        per,
        burst: f64::from(burst),
    })
}

/// A step of time, in thousandths of what one token takes.
fn step(bucket: Bucket, thousandths: i64) -> i64 {
    (bucket.per as f64 / bucket.rate * thousandths as f64 / 1000.0) as i64
}

proptest! {
    #[test]
    fn no_window_ever_gets_more_than_burst_and_rate_times_its_length(
        bucket in buckets(),
        looks in prop::collection::vec((0_i64..4000, 0_u64..60), 1..60),
    ) {
        let mut partition = bucket.partition();
        let mut now = 0;
        let mut taken: Vec<(i64, u64)> = Vec::new();
        for (thousandths, most) in looks {
            now += step(bucket, thousandths);
            taken.push((now, partition.take_allowed(now, most)));
        }
        for from in 0..taken.len() {
            let mut sum = 0;
            for (time, jobs) in &taken[from..] {
                sum += jobs;
                prop_assert!(sum <= bucket.bound(time - taken[from].0));
            }
        }
    }

    #[test]
    fn always_asked_it_gives_exactly_burst_and_rate_times_time(
        mut bucket in buckets(),
        looks in prop::collection::vec(0_i64..1000, 1..200),
    ) {
        bucket.burst += 1.0;
        let mut partition = bucket.partition();
        let (mut now, mut total) = (0, partition.take_allowed(0, u64::MAX));
        for thousandths in looks {
            now += step(bucket, thousandths);
            total += partition.take_allowed(now, u64::MAX);
            prop_assert_eq!(total, bucket.bound(now));
        }
    }

    #[test]
    fn it_allows_at_until_and_not_a_microsecond_earlier(
        bucket in buckets(),
        taken in 0_u64..200,
        thousandths in 0_i64..1000,
    ) {
        let mut partition = bucket.partition();
        partition.take(0, taken);
        let now = step(bucket, thousandths);
        if let Some(until) = partition.until(now) {
            prop_assert!(until > now);
            prop_assert_eq!(partition.allowance(until - 1), 0);
            prop_assert!(partition.allowance(until) >= 1);
            partition.take(now, 0);
            prop_assert_eq!(partition.until(now), Some(until), "a look in between changes nothing");
        }
    }

    #[test]
    fn whoever_waits_for_several_tokens_finds_them_at_until(bucket in buckets(), pending in 0_i64..10_000) {
        let mut partition = bucket.partition();
        partition.pending = pending;
        partition.take(0, bucket.burst as u64);
        let until = partition.until(0).unwrap();
        prop_assert!(partition.allowance(until) >= 1);
        let first = { partition.pending = 1; partition.until(0).unwrap() };
        prop_assert!(until >= first && until <= first.max(50_000));
    }

    #[test]
    fn nothing_overflows(
        rate in prop_oneof![Just(1e-300), Just(1e-9), 0.0_f64..1e12, Just(1e12)],
        per in 1_u64..315_360_000_000,
        burst in prop_oneof![Just(1.0), Just(1.5), 1.0_f64..1e12, Just(1e12)],
        steps in prop::collection::vec((0_i64..7_000_000_000_000_000, any::<u64>()), 1..20),
    ) {
        let mut partition = Partition::of(&throttled(rate, Duration::from_millis(per), burst));
        let mut now = 0;
        for (step, taken) in steps {
            now += step;
            let decision = partition.decide(now);
            prop_assert!(decision.allowance <= burst as u64);
            prop_assert_eq!(decision.allowance == 0, decision.denial.is_some());
            prop_assert!(decision.due >= at(now));
            partition.take(now, taken);
        }
    }
}

#[test]
fn ten_thousand_waits_lose_not_one_job() {
    for (rate, per, burst) in [
        (0.1, SECOND, 2.0),
        (7.0, 3 * SECOND, 7.0),
        (1.0, 3600 * SECOND, 2.0),
        (1.0 / 3.0, SECOND, 2.0),
        (1000.0, SECOND, 200.0),
    ] {
        let bucket = Bucket { rate, per, burst };
        let mut partition = bucket.partition();
        partition.pending = 1_000_000;
        let (mut now, mut total) = (0, 0);
        for _ in 0..10_000 {
            total += partition.take_allowed(now, u64::MAX);
            now = partition.until(now).unwrap();
        }
        total += partition.take_allowed(now, u64::MAX);
        assert_eq!(total, bucket.bound(now), "{bucket:?}");
    }
}
