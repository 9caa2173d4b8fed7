//! The result: one JSON document, or the last table with the audit's words.

use std::time::Duration;

use serde::Serialize;

use super::audit::Audit;
use super::feed::Fed;
use super::record::Final;
use super::rules::{FACTORS, Route};
use super::screen::SHOWN;
use super::tenants::Tenants;
use super::walk::Walk;
use super::{board, table};

/// Everything that the demo found out. The keys are stable.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    staged: i64,
    admitted: i64,
    /// Distinct deliveries that the endpoint received.
    done: i64,
    /// Deliveries that it received once more.
    duplicates: i64,
    violations: i64,
    seconds: f64,
    input: Input,
    policies: Vec<OfPolicy>,
    tenants: Vec<OfTenant>,
    audit: Audit,
}

#[derive(Debug, Serialize)]
struct Input {
    rows: usize,
    events: usize,
    owners: usize,
    replays: u64,
    multiplied: Vec<Multiplied>,
    /// Copies that would not have been done in time.
    copies_left_out: u64,
}

#[derive(Debug, Serialize)]
struct Multiplied {
    owner: String,
    by: u32,
}

#[derive(Debug, Serialize)]
struct OfPolicy {
    policy: &'static str,
    gates: String,
    tenants: usize,
    staged: i64,
    admitted: i64,
    done: i64,
    longest_wait_ms: i64,
}

#[derive(Debug, Serialize)]
struct OfTenant {
    policy: &'static str,
    tenant: String,
    limit: String,
    #[serde(flatten)]
    numbers: Final,
}

impl Report {
    pub(super) fn new(
        walk: &Walk,
        tenants: &Tenants,
        fed: Fed,
        finals: &[Final],
        audit: Audit,
        took: Duration,
    ) -> Self {
        let total = |get: fn(&Final) -> i64| finals.iter().map(get).sum();
        let of_tenant = |row: &Final| {
            let tenant = tenants.get(row.place())?;
            let limit = tenant.limit().words();
            Some(OfTenant {
                policy: tenant.route.policy(),
                tenant: tenant.owner.clone(),
                limit,
                numbers: row.clone(),
            })
        };
        let mut of_tenants: Vec<OfTenant> = finals.iter().filter_map(of_tenant).collect();
        of_tenants.sort_by_key(|tenant| std::cmp::Reverse(tenant.numbers.staged));
        Self {
            staged: total(|row| row.staged),
            admitted: total(|row| row.admitted),
            done: total(|row| row.done),
            duplicates: total(|row| row.duplicates),
            violations: audit.violations(),
            seconds: (took.as_secs_f64() * 10.0).round() / 10.0,
            input: input(walk, fed),
            policies: Route::ALL.map(|route| of_policy(route, &of_tenants)).into(),
            tenants: of_tenants,
            audit,
        }
    }

    /// Whether all went as it must: everything done, exactly once, and no limit exceeded.
    pub(super) fn is_good(&self) -> bool {
        self.done == self.staged && self.duplicates == 0 && self.violations == 0
    }

    /// The last table, the totals and the audit, for people.
    pub(super) fn text(&self, tenants: &Tenants, finals: &[Final], width: usize) -> String {
        let mut lines = table::table(&board::final_lines(tenants, finals), SHOWN, width);
        lines.push(String::new());
        let number = |count: i64| table::number(u64::try_from(count).unwrap_or(0));
        let twice = match self.duplicates {
            0 => "each exactly once".to_owned(),
            count => format!("{} more than once", number(count)),
        };
        lines.push(format!(
            "staged {}, admitted {}, received by the endpoint {} ({twice}), in {} s",
            number(self.staged),
            number(self.admitted),
            number(self.done),
            self.seconds
        ));
        if self.done < self.staged {
            lines.push(format!("NOT DONE: {}", number(self.staged - self.done)));
        }
        if self.input.copies_left_out > 0 {
            lines.push(format!(
                "{} copies were left out, because they would not have been done in time",
                table::number(self.input.copies_left_out)
            ));
        }
        lines.push(match self.violations {
            0 => "audit in SQL, over a record of its own: no cap and no rate was exceeded, no job was lost; 0 violations"
                .to_owned(),
            count => format!("audit in SQL, over a record of its own: {} VIOLATIONS", number(count)),
        });
        for finding in self.audit.findings.iter().filter(|finding| finding.violations > 0) {
            let example = finding.example.as_deref().unwrap_or_default();
            lines.push(format!("  {} {}, as in: {example}", finding.violations, finding.looks_for));
        }
        lines.join("\n") + "\n"
    }
}

fn input(walk: &Walk, fed: Fed) -> Input {
    let multiplied =
        walk.owners.iter().zip(FACTORS).map(|(owner, by)| Multiplied { owner: owner.clone(), by });
    Input {
        rows: walk.rows,
        events: walk.events().count(),
        owners: walk.owners.len(),
        replays: fed.replays,
        multiplied: multiplied.collect(),
        copies_left_out: fed.left_out,
    }
}

fn of_policy(route: Route, tenants: &[OfTenant]) -> OfPolicy {
    let own: Vec<&Final> = tenants
        .iter()
        .filter(|tenant| tenant.policy == route.policy())
        .map(|tenant| &tenant.numbers)
        .collect();
    let total = |get: fn(&Final) -> i64| own.iter().map(|row| get(row)).sum();
    OfPolicy {
        policy: route.policy(),
        gates: route.gates(),
        tenants: own.len(),
        staged: total(|row| row.staged),
        admitted: total(|row| row.admitted),
        done: total(|row| row.done),
        longest_wait_ms: own.iter().map(|row| row.longest_wait_ms).max().unwrap_or(0),
    }
}
