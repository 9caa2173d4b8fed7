//! Why a partition that has work got nothing: one fixed list.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a partition that has work got nothing. Stored and shown by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DenyReason {
    /// A throttle has no token left.
    RateLimited,
    /// The rate of a throttle is zero.
    RateZero,
    /// As many jobs are in flight as a concurrency gate allows.
    ConcurrencyFull,
    /// As many jobs are in flight as the cap of an adaptive gate allows.
    AdaptiveFull,
    /// A number that a gate needs is missing, negative or not a number.
    BadParameter,
    /// The context does not say which scope of a gate the partition belongs to.
    BadScope,
    /// The tick's admission budget went to others.
    TickCapExhausted,
    /// The queue holds as many jobs that no worker has begun as it may, and the room there was went to others.
    QueueFull,
    /// The partition has had more than its weight's share; others are served first.
    AheadOfShare,
    /// Its first jobs are in flight, and nobody knows yet how much worker time they take.
    LengthUnknown,
}

impl DenyReason {
    /// Every reason, in the order of the list.
    pub const ALL: [Self; 10] = [
        Self::RateLimited,
        Self::RateZero,
        Self::ConcurrencyFull,
        Self::AdaptiveFull,
        Self::BadParameter,
        Self::BadScope,
        Self::TickCapExhausted,
        Self::QueueFull,
        Self::AheadOfShare,
        Self::LengthUnknown,
    ];

    /// The stable snake_case code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::RateZero => "rate_zero",
            Self::ConcurrencyFull => "concurrency_full",
            Self::AdaptiveFull => "adaptive_full",
            Self::BadParameter => "bad_parameter",
            Self::BadScope => "bad_scope",
            Self::TickCapExhausted => "tick_cap_exhausted",
            Self::QueueFull => "queue_full",
            Self::AheadOfShare => "ahead_of_share",
            Self::LengthUnknown => "length_unknown",
        }
    }

    /// The reason with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// A few words for a table or a chart.
    pub const fn label(self) -> &'static str {
        match self {
            Self::RateLimited => "rate limit reached",
            Self::RateZero => "rate is zero",
            Self::ConcurrencyFull => "all slots in use",
            Self::AdaptiveFull => "adaptive cap reached",
            Self::BadParameter => "limit cannot be read",
            Self::BadScope => "scope cannot be read",
            Self::TickCapExhausted => "tick budget used up",
            Self::QueueFull => "queue has enough waiting jobs",
            Self::AheadOfShare => "ahead of its share",
            Self::LengthUnknown => "length of its jobs unknown yet",
        }
    }

    /// What an operator can do about it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::RateLimited => {
                "It goes on by itself at its retry time; raise `rate` or `burst` if that is too slow."
            }
            Self::RateZero => {
                "A rate of 0 holds every job; set a positive `rate`, or stage a job with a context that has one."
            }
            Self::ConcurrencyFull => {
                "It goes on when a job finishes; raise `max`, or look for jobs that never finish."
            }
            Self::AdaptiveFull => {
                "It goes on when a job finishes; the cap grows by itself while jobs start within `target_lag_ms`, so add workers or raise that."
            }
            Self::BadParameter => {
                "Stage a job with a context that has a number of at least 0 there, or give the parameter a `default`."
            }
            Self::BadScope => {
                "Stage a job with a context that has a string, a boolean or a 64-bit integer at the gate's `scope`."
            }
            Self::QueueFull => {
                "It goes on when workers begin what the queue holds; add workers, or raise the queue's `max_waiting`."
            }
            Self::AheadOfShare => {
                "It goes on when the others have caught up; raise its weight if it should get more."
            }
            Self::LengthUnknown => "It goes on when its first job finishes.",
            Self::TickCapExhausted => {
                "It is served first at its next look; raise `tick_admission_budget` if this happens at every tick."
            }
        }
    }
}

impl fmt::Display for DenyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
