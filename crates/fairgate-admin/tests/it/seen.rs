//! What tenants write is shown, and is never markup, script or a header.

use fairgate_admin::METRICS;

use crate::site::Site;

const NASTY: &str = "<script>alert(1)</script>\"'&\u{1b}[31m%_\\";

#[tokio::test]
async fn whatever_tenants_write_is_escaped_on_every_page() {
    let mut site = Site::new().await;
    let staged = site.stage(NASTY, 2).await;
    let key = NASTY.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    site.pass().await;
    let paths = [
        "/".to_owned(),
        "/policies".to_owned(),
        "/policies/p".to_owned(),
        "/partitions/p".to_owned(),
        format!("/partitions/p?search={key}"),
        format!("/partitions/p?key={key}"),
        format!("/jobs/{}", staged[0].job_id),
        format!("/jobs/{}", staged[1].job_id),
    ];
    for path in paths {
        let page = site.page(&path).await;
        assert!(!page.contains("<script>alert"), "{path}");
        assert!(!page.contains(" style="), "{path}: a style in the page is against its own policy");
        assert!(!page.contains(" onclick"), "{path}");
    }
    let page = site.page(&format!("/partitions/p?key={key}")).await;
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "it is shown as it is");
}

#[tokio::test]
async fn every_answer_says_what_a_browser_may_do_with_it() {
    let mut site = Site::new().await;
    for path in ["/", "/nope", "/jobs/x", "/api/v1/status", "/metrics", "/health/live"] {
        let headers = site.get(path).await.headers;
        let policy = headers["content-security-policy"].to_str().expect("a policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["x-frame-options"], "DENY", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
    }
}

#[tokio::test]
async fn metrics_are_those_of_the_list_and_name_no_tenant() {
    let mut site = Site::new().await;
    site.stage("a-tenant", 3).await;
    site.pass().await;
    let text = site.page("/metrics").await;
    assert!(!text.contains("a-tenant"), "{text}");
    let known: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().expect("a name");
        assert!(known.contains(&name), "{line}");
        assert!(line.rsplit(' ').next().expect("a value").parse::<f64>().is_ok(), "{line}");
    }
    assert!(text.contains("fairgate_pending_jobs{policy=\"p\"} 2"), "{text}");
    assert!(text.contains("fairgate_in_flight_jobs{policy=\"p\"} 1"), "{text}");
    assert!(text.contains("fairgate_hints{code=\"no_ticker\"} 1"), "{text}");
}

#[test]
fn every_metric_is_documented() {
    let document = include_str!("../../../../docs/admin.md");
    for (name, _) in METRICS {
        assert!(document.contains(&format!("`{name}")), "{name}");
    }
}

#[test]
fn the_dashboard_and_the_alerts_of_contrib_name_metrics_that_exist() {
    let files = [
        include_str!("../../../../contrib/grafana/fairgate.json"),
        include_str!("../../../../contrib/prometheus/alerts.yml"),
    ];
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    for file in files {
        for rest in file.split("fairgate_").skip(1) {
            let name = format!("fairgate_{}", rest.split(|c| !is_part(c)).next().unwrap_or_default());
            assert!(METRICS.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
