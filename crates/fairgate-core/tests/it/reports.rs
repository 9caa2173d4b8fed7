use fairgate_core::{Claimed, DenyReason, TickReport, plan};

use crate::support::{at, builder, claimed, limits};

#[test]
fn a_report_counts_partitions_jobs_and_denials_by_reason() {
    let policy = builder().concurrency(|c| c.max(5.0)).build().unwrap();
    let partitions = [
        claimed("served", 10),
        Claimed { in_flight: 5, ..claimed("full", 10) },
        claimed("left out", 10),
        claimed("empty", 0),
    ];
    let plan = plan(&policy, &partitions, &limits(Some(1)), at(0));
    let mut report = TickReport::of(&plan, &[1]);
    assert_eq!((report.partitions_seen, report.partitions_admitted, report.partitions_denied), (4, 1, 2));
    assert_eq!((report.jobs_admitted, report.failures), (1, 0));
    let one_each = [(DenyReason::ConcurrencyFull, 1), (DenyReason::TickCapExhausted, 1)];
    assert_eq!(report.denials, one_each.into());

    report.merge(&report.clone());
    assert_eq!((report.partitions_seen, report.jobs_admitted), (8, 2));
    assert_eq!(report.denials[&DenyReason::ConcurrencyFull], 2);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["denials"]["tick_cap_exhausted"], 2);
}
