//! A plan like that of a client of GitHub: 12 polls and 40 lookups of 60, 8 kept back.

use std::time::Duration;

use chrono::{DateTime, TimeZone, Utc};
use fairgate_core::budget::{
    Allowance, Answer, Ask, Borrow, Class, Debit, Denial, Lane, Ledger, LimitHeaders, Member, Plan, Receipt,
    Reconciled, Verdict, Windows, decide, reconcile,
};

pub(crate) const HOUR: u64 = 3600;

pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    Utc.timestamp_opt(1_800_000_000 + seconds, 0).unwrap()
}

pub(crate) fn plan_of(limit: u32, reserve: u32, polls: u32, share: &str) -> Plan {
    plan_with(limit, reserve, polls, share, Windows::FromHeaders(Duration::from_secs(HOUR))).unwrap()
}

pub(crate) fn plan_with(
    limit: u32,
    reserve: u32,
    polls: u32,
    share: &str,
    windows: Windows,
) -> Result<Plan, fairgate_core::budget::PlanError> {
    let member = |name: &str| Member { name: name.to_owned(), share: share.parse().unwrap() };
    let poll = Class {
        name: "poll".to_owned(),
        allowance: Allowance::Fixed(polls),
        opens_windows: true,
        members: vec![],
    };
    let lookups = Class {
        name: "lookup".to_owned(),
        allowance: Allowance::Rest,
        opens_windows: false,
        members: vec![member("actor"), member("repository")],
    };
    Plan::new("core", limit, reserve, windows, vec![poll, lookups])
}

/// A budget at work.
pub(crate) struct Budget {
    pub(crate) plan: Plan,
    pub(crate) ledger: Ledger,
    pub(crate) poll: Lane,
    pub(crate) actor: Lane,
    pub(crate) repository: Lane,
}

impl Budget {
    pub(crate) fn new(plan: Plan) -> Self {
        let lane = |class: &str, member| plan.lane(class, member).unwrap();
        let (poll, actor, repository) =
            (lane("poll", None), lane("lookup", Some("actor")), lane("lookup", Some("repository")));
        Self { ledger: Ledger::new(&plan), plan, poll, actor, repository }
    }

    /// 60 requests, told of by the answer to one poll.
    pub(crate) fn told() -> Self {
        let mut budget = Self::new(plan_of(60, 8, 12, "0.5"));
        let receipt = budget.spend(budget.poll, Borrow::No, 0).unwrap();
        let _ = budget.answer(receipt, clean(60, 59, 3600), 0);
        budget
    }

    pub(crate) fn try_spend(&self, lane: Lane, borrow: Borrow, now: i64) -> Result<Debit, Denial> {
        decide(&self.plan, &self.ledger, Ask::new(&self.plan, lane, borrow).unwrap(), at(now))
    }

    pub(crate) fn spend(&mut self, lane: Lane, borrow: Borrow, now: i64) -> Result<Receipt, Denial> {
        let debit = self.try_spend(lane, borrow, now)?;
        self.ledger = debit.ledger;
        Ok(debit.receipt)
    }

    pub(crate) fn answer(&mut self, receipt: Receipt, answer: Answer, now: i64) -> Reconciled {
        let done = reconcile(&self.plan, &self.ledger, receipt, &answer, at(now));
        self.ledger = done.ledger.clone();
        done
    }

    pub(crate) fn used(&self, lane: Lane) -> u32 {
        self.ledger.window.used[lane.slot()]
    }
}

pub(crate) fn headers(limit: u32, remaining: u32, reset: i64) -> LimitHeaders {
    LimitHeaders { resource: Some("core".to_owned()), limit, remaining, reset_at: at(reset) }
}

pub(crate) fn clean(limit: u32, remaining: u32, reset: i64) -> Answer {
    Answer { headers: Some(headers(limit, remaining, reset)), verdict: Verdict::Clean }
}

pub(crate) fn silent(verdict: Verdict) -> Answer {
    Answer { headers: None, verdict }
}
