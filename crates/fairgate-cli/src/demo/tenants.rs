//! The tenants of each policy, and what this process has counted of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::rules::{FACTORS, Limit, Route};
use super::walk::Walk;

/// An owner under one policy.
#[derive(Debug)]
pub(super) struct Tenant {
    pub(super) route: Route,
    pub(super) owner: String,
    /// 0 is the busiest owner.
    pub(super) rank: usize,
    staged: AtomicU64,
    received: AtomicU64,
}

/// Everybody that the walk delivers to, in a fixed order; a tenant's place in it stands for the tenant in the database.
#[derive(Debug)]
pub(super) struct Tenants {
    list: Vec<Tenant>,
    places: HashMap<Route, HashMap<String, usize>>,
}

impl Tenant {
    pub(super) fn limit(&self) -> Limit {
        self.route.limit(self.rank)
    }

    /// Into how many deliveries one of its events should be multiplied.
    pub(super) fn factor(&self) -> u32 {
        FACTORS.get(self.rank).copied().unwrap_or(1)
    }

    /// Deliveries whose staging was committed.
    pub(super) fn staged(&self) -> u64 {
        self.staged.load(Ordering::Relaxed)
    }

    /// Distinct deliveries that the endpoint has received.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(super) fn add_staged(&self, count: u64) {
        self.staged.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn add_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// Deliveries that are staged and not received yet.
    pub(super) fn backlog(&self) -> u64 {
        self.staged().saturating_sub(self.received())
    }
}

impl Tenants {
    pub(super) fn of(walk: &Walk) -> Self {
        let ranks: HashMap<&str, usize> =
            walk.owners.iter().enumerate().map(|(rank, owner)| (owner.as_str(), rank)).collect();
        let mut tenants = Self { list: Vec::new(), places: HashMap::new() };
        for event in walk.events() {
            let places = tenants.places.entry(event.route).or_default();
            if !places.contains_key(&event.owner) {
                places.insert(event.owner.clone(), tenants.list.len());
                tenants.list.push(Tenant {
                    route: event.route,
                    owner: event.owner.clone(),
                    rank: ranks[event.owner.as_str()],
                    staged: AtomicU64::new(0),
                    received: AtomicU64::new(0),
                });
            }
        }
        tenants
    }

    pub(super) fn place(&self, route: Route, owner: &str) -> Option<usize> {
        self.places.get(&route)?.get(owner).copied()
    }

    pub(super) fn get(&self, place: usize) -> Option<&Tenant> {
        self.list.get(place)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Tenant> {
        self.list.iter()
    }

    pub(super) fn staged(&self) -> u64 {
        self.iter().map(Tenant::staged).sum()
    }

    pub(super) fn received(&self) -> u64 {
        self.iter().map(Tenant::received).sum()
    }

    pub(super) fn backlog(&self) -> u64 {
        self.iter().map(Tenant::backlog).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_a_tenant_of_every_policy_that_its_events_go_to() {
        let walk = Walk::recorded();
        let tenants = Tenants::of(&walk);
        let busiest: Vec<&Tenant> = tenants.iter().filter(|tenant| tenant.rank == 0).collect();
        assert_eq!(busiest.len(), 3);
        assert!(busiest.iter().all(|tenant| tenant.factor() == 200));
        let places = tenants.iter().map(|tenant| tenants.place(tenant.route, &tenant.owner));
        assert!(places.enumerate().all(|(at, place)| place == Some(at)));
    }
}
