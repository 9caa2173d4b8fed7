//! Who may spend how much of a window.

use std::time::Duration;

use super::share::Share;

/// How a budget is divided. Checked when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(super) resource: String,
    pub(super) limit: u32,
    pub(super) reserve: u32,
    pub(super) windows: Windows,
    classes: Vec<Class>,
}

/// How windows begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// The server's headers tell the reset; one is at most this long. Until they have told, only classes that open windows may spend.
    FromHeaders(Duration),
    /// One begins with its first request and lasts this long.
    Fixed(Duration),
}

/// A class of work, with what it may spend in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Its name, unlike those of the others.
    pub name: String,
    /// What it may spend.
    pub allowance: Allowance,
    /// Whether it may spend in a window of which the server has not told anything.
    pub opens_windows: bool,
    /// Its parts; empty for a class that is not divided.
    pub members: Vec<Member>,
}

/// What a class may spend in a window, in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// This many.
    Fixed(u32),
    /// What the reserve and the fixed classes leave.
    Rest,
}

/// A part of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, unlike those of its neighbours.
    pub name: String,
    /// Its part of the class's allowance. The last member has what the others leave, whatever is written here.
    pub share: Share,
}

/// Whose account a request is on: an undivided class, or a member of a divided one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lane {
    pub(super) class: usize,
    pub(super) member: Option<usize>,
    pub(super) slot: usize,
}

/// Why a plan cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Nothing is left for the class that has the rest.
    #[error(
        "the fixed classes ({fixed}) and the reserve ({reserve}) leave nothing of the limit ({limit}); lower one of them"
    )]
    NothingLeft {
        /// Sum of the fixed allowances.
        fixed: u64,
        /// The reserve.
        reserve: u32,
        /// The limit.
        limit: u32,
    },
    /// Two classes, or two members of one, have one name.
    #[error("the name {0:?} comes twice; a name stands for one account")]
    TwiceNamed(String),
    /// More than one class has the rest.
    #[error("{0:?} is the second class that has the rest; only one can")]
    TwoRests(String),
    /// Shares of a class exceed the whole.
    #[error("the shares of class {0:?} exceed 1; lower one of them")]
    SharesExceedOne(String),
}

impl Plan {
    /// A plan for the budget that the server calls `resource`, for windows of `limit` requests unless the server says another number.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn new(
        resource: &str,
        limit: u32,
        reserve: u32,
        windows: Windows,
        classes: Vec<Class>,
    ) -> Result<Self, PlanError> {
        let mut names = Vec::new();
        let mut rest = 0;
        for class in &classes {
            let of_class = class.members.iter().map(|member| (class.name.as_str(), member.name.as_str()));
            for name in of_class.chain([(class.name.as_str(), "")]) {
                if names.contains(&name) {
                    let twice = if name.1.is_empty() { name.0 } else { name.1 };
                    return Err(PlanError::TwiceNamed(twice.to_owned()));
                }
                names.push(name);
            }
            if class.allowance == Allowance::Rest {
                rest += 1;
                if rest > 1 {
                    return Err(PlanError::TwoRests(class.name.clone()));
                }
            }
            let first = class.members.len().saturating_sub(1);
            let shared: u64 = class.members[..first].iter().map(|m| u64::from(m.share.of(u32::MAX))).sum();
            if shared > u32::MAX.into() {
                return Err(PlanError::SharesExceedOne(class.name.clone()));
            }
        }
        let plan = Self { resource: resource.to_owned(), limit, reserve, windows, classes };
        let fixed = plan.fixed();
        if fixed + u64::from(reserve) >= limit.into() {
            return Err(PlanError::NothingLeft { fixed, reserve, limit });
        }
        Ok(plan)
    }

    /// The server's name of this budget.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// The limit that is assumed until the server tells one.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Requests that are never spent.
    #[must_use]
    pub fn reserve(&self) -> u32 {
        self.reserve
    }

    /// How long a window is at most.
    #[must_use]
    pub fn window_length(&self) -> Duration {
        match self.windows {
            Windows::FromHeaders(length) | Windows::Fixed(length) => length,
        }
    }

    /// The account of an undivided class, or of a member of a divided one. None: there is no such account.
    #[must_use]
    pub fn lane(&self, class: &str, member: Option<&str>) -> Option<Lane> {
        self.lanes()
            .find(|(_, its_class, its_member)| *its_class == class && *its_member == member)
            .map(|l| l.0)
    }

    /// Every account with its class and member, in order of their slots in [`Window::used`](super::Window::used).
    pub fn lanes(&self) -> impl Iterator<Item = (Lane, &str, Option<&str>)> {
        let of_class = |(class, it): (usize, &Class)| {
            let members = it.members.len();
            (0..members.max(1)).map(move |n| (class, (members > 0).then_some(n)))
        };
        let all: Vec<_> = self.classes.iter().enumerate().flat_map(of_class).collect();
        all.into_iter().enumerate().map(|(slot, (class, member))| {
            let its = &self.classes[class];
            let name = member.map(|member| its.members[member].name.as_str());
            (Lane { class, member, slot }, its.name.as_str(), name)
        })
    }

    /// What the lane's class may spend in a window of this limit.
    #[must_use]
    pub fn allowance(&self, lane: Lane, limit: u32) -> u32 {
        let spendable = limit.saturating_sub(self.reserve);
        match self.classes[lane.class].allowance {
            Allowance::Fixed(fixed) => fixed.min(spendable),
            Allowance::Rest => {
                let fixed = u32::try_from(self.fixed()).unwrap_or(u32::MAX);
                spendable.saturating_sub(fixed)
            }
        }
    }

    /// What the lane may spend in a window of this limit without borrowing.
    #[must_use]
    pub fn guarantee(&self, lane: Lane, limit: u32) -> u32 {
        let allowance = self.allowance(lane, limit);
        let members = &self.classes[lane.class].members;
        match lane.member {
            None => allowance,
            Some(n) if n + 1 < members.len() => members[n].share.of(allowance),
            Some(n) => {
                members[..n].iter().fold(allowance, |rest, m| rest.saturating_sub(m.share.of(allowance)))
            }
        }
    }

    /// Whether the lane may spend in a window of which the server has not told anything.
    #[must_use]
    pub fn may_open(&self, lane: Lane) -> bool {
        self.classes[lane.class].opens_windows || matches!(self.windows, Windows::Fixed(_))
    }

    pub(super) fn class(&self, lane: Lane) -> &Class {
        &self.classes[lane.class]
    }

    fn fixed(&self) -> u64 {
        let fixed = |class: &Class| match class.allowance {
            Allowance::Fixed(fixed) => u64::from(fixed),
            Allowance::Rest => 0,
        };
        self.classes.iter().map(fixed).sum()
    }
}

impl Lane {
    /// Its place in [`Window::used`](super::Window::used).
    #[must_use]
    pub fn slot(self) -> usize {
        self.slot
    }
}
