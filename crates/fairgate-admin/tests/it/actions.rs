//! Every button does what it says, tells how it went, and is written down.

use serde_json::json;

use crate::site::Site;

async fn trail(site: &Site) -> Vec<String> {
    let sql = "SELECT concat_ws(' ', action, policy, partition_key, detail, CASE succeeded WHEN true THEN 'done' WHEN false THEN 'failed' END) FROM fairgate.audit ORDER BY id";
    sqlx::query_scalar(sql).fetch_all(site.db.pool()).await.expect("the trail")
}

#[tokio::test]
async fn a_policy_is_paused_resumed_disabled_and_enabled_and_each_is_written_down() {
    let mut site = Site::new().await;
    site.stage("a", 1).await;
    let now = "SELECT (paused::int * 10 + enabled::int)::bigint FROM fairgate.policy WHERE name = 'p'";
    for (verb, state) in [("pause", 11), ("resume", 1), ("disable", 0), ("enable", 1)] {
        let answer = site.post("/policies/p", &format!("/policies/p/{verb}"), &[]).await;
        assert_eq!(answer.place(), "/policies/p");
        assert_eq!(site.number(now).await, state, "{verb}");
    }
    assert!(site.page("/policies/p").await.contains("policy &quot;p&quot; is enabled"));
    assert!(!site.page("/policies/p").await.contains("is enabled"), "it is told once");
    assert_eq!(trail(&site).await, ["pause p done", "resume p done", "disable p done", "enable p done"]);
    assert!(site.page("/audit").await.contains("disable"));
}

#[tokio::test]
async fn everything_is_disabled_and_enabled_from_the_dashboard() {
    let mut site = Site::new().await;
    site.post("/", "/engine/disable", &[]).await;
    assert_eq!(site.json("/api/v1/status").await["enabled"], json!(false));
    assert!(site.page("/").await.contains("nothing is admitted"));
    site.post("/", "/engine/enable", &[]).await;
    assert_eq!(site.json("/api/v1/status").await["enabled"], json!(true));
}

#[tokio::test]
async fn a_partition_is_paused_and_resumed() {
    let mut site = Site::new().await;
    site.stage("a", 1).await;
    let page = "/partitions/p?key=a";
    assert_eq!(site.post(page, "/partitions/p/pause", &[("key", "a")]).await.place(), page);
    assert_eq!(site.pass().await, 0);
    assert!(site.page(page).await.contains("is paused"));
    site.post(page, "/partitions/p/resume", &[("key", "a")]).await;
    assert_eq!(site.pass().await, 1);
    assert_eq!(trail(&site).await, ["pause p a done", "resume p a done"]);
}

#[tokio::test]
async fn jobs_are_admitted_by_count_and_drained_past_the_gates() {
    let mut site = Site::new().await;
    site.stage("a", 5).await;
    let page = "/partitions/p?key=a";
    site.post(page, "/partitions/p/admit", &[("key", "a"), ("count", "2")]).await;
    assert_eq!(site.number("SELECT count(*) FROM fairgate.in_flight WHERE forced").await, 2);
    assert!(site.page(page).await.contains("2 jobs admitted; 3 still waiting"));
    site.post(page, "/partitions/p/drain", &[("key", "a")]).await;
    assert_eq!(site.number("SELECT count(*) FROM fairgate.in_flight").await, 5);
    site.stage("b", 2).await;
    site.post("/policies/p", "/policies/p/drain", &[]).await;
    assert_eq!(site.number("SELECT count(*) FROM fairgate.in_flight").await, 7);
    assert_eq!(trail(&site).await, ["admit p a count 2 done", "drain p a done", "drain p done"]);
}

#[tokio::test]
async fn blank_and_silly_numbers_get_a_sentence_and_change_nothing() {
    let mut site = Site::new().await;
    site.stage("a", 1).await;
    let page = "/partitions/p?key=a";
    for silly in ["", "0", "-3", "many", "1e3", "99999999999"] {
        site.post(page, "/partitions/p/admit", &[("key", "a"), ("count", silly)]).await;
        let told = site.page(page).await;
        assert!(
            told.contains("give a whole number from 1 to 100000") || told.contains("is blank"),
            "{silly}"
        );
    }
    for (value, lasts, reason, sentence) in [
        ("", "1h", "why", "is blank"),
        ("-1", "1h", "why", "give a number from 0 up"),
        ("2", "soon", "why", "is not a duration"),
        ("2", "1h", " ", "is blank"),
        ("2", "4000d", "why", "cannot last"),
    ] {
        let fields = [
            ("key", "a"),
            ("target", "concurrency.max"),
            ("value", value),
            ("lasts", lasts),
            ("reason", reason),
        ];
        site.post(page, "/partitions/p/override", &fields).await;
        assert!(site.page(page).await.contains(sentence), "{sentence}");
    }
    assert_eq!(site.number("SELECT count(*) FROM fairgate.in_flight").await, 0);
    assert_eq!(site.number("SELECT count(*) FROM fairgate.override").await, 0);
}

#[tokio::test]
async fn a_limit_is_overridden_for_a_while_and_ended_early() {
    let mut site = Site::new().await;
    site.stage("a", 5).await;
    let page = "/partitions/p?key=a";
    let fields = [
        ("key", "a"),
        ("target", "concurrency.max"),
        ("value", "3"),
        ("lasts", "1h"),
        ("reason", "a <big> day"),
    ];
    site.post(page, "/partitions/p/override", &fields).await;
    assert_eq!(site.pass().await, 3);
    let shown = site.page(page).await;
    assert!(shown.contains("a &lt;big&gt; day") && shown.contains("concurrency.max"), "{shown}");
    site.post(page, "/partitions/p/clear-override", &[("key", "a"), ("target", "concurrency.max")]).await;
    assert_eq!(site.number("SELECT count(*) FROM fairgate.overrides").await, 0);
    assert_eq!(
        trail(&site).await,
        ["override p a concurrency.max=3 for 1h: a <big> day done", "end override p a concurrency.max done"]
    );
}

#[tokio::test]
async fn a_waiting_job_is_cancelled_once() {
    let mut site = Site::new().await;
    let staged = site.stage("a", 2).await;
    let page = format!("/jobs/{}", staged[1].job_id);
    site.post(&page, &format!("{page}/cancel"), &[]).await;
    assert!(site.page(&page).await.contains("is cancelled"));
    assert_eq!(site.number("SELECT count(*) FROM fairgate.staged").await, 1);
    site.post("/policies/p", &format!("{page}/cancel"), &[]).await;
    assert!(site.page(&page).await.contains("does not wait"));
}

#[tokio::test]
async fn quarantined_jobs_are_restaged_and_dropped_one_by_one_and_all_at_once() {
    let mut site = Site::new().await;
    let staged = site.stage("a", 4).await;
    let quarantine = "WITH gone AS (DELETE FROM fairgate.staged RETURNING *)
         INSERT INTO fairgate.quarantined (job_id, partition_id, policy_id, partition_key, priority, staged_at, task, payload, context, forward_attempts, error, quarantined_at)
         SELECT job_id, partition_id, policy_id, partition_key, priority, staged_at, task, payload, context, 5, 'no <such> column', now() FROM gone";
    sqlx::raw_sql(quarantine).execute(site.db.pool()).await.expect("quarantined");
    let page = site.page("/quarantine").await;
    assert!(page.contains("no &lt;such&gt; column"));
    let job = format!("/jobs/{}", staged[0].job_id);
    site.post(&job, &format!("{job}/restage"), &[]).await;
    let answer = site
        .post("/quarantine", &format!("/jobs/{}/restage", staged[1].job_id), &[("back", "quarantine")])
        .await;
    assert_eq!(answer.place(), "/quarantine");
    let job = format!("/jobs/{}", staged[2].job_id);
    site.post(&job, &format!("{job}/drop"), &[]).await;
    let left = "SELECT count(*) FROM fairgate.quarantined";
    assert_eq!((site.number(left).await, site.number("SELECT count(*) FROM fairgate.staged").await), (1, 2));
    site.post("/quarantine", "/quarantine/drop", &[("policy", "p")]).await;
    assert_eq!(site.number(left).await, 0);
    assert!(site.page("/quarantine").await.contains("1 job dropped"));
}

#[tokio::test]
async fn what_fails_is_told_and_written_down_as_failed() {
    let mut site = Site::new().await;
    let answer = site.post("/policies/p", "/partitions/p/pause", &[("key", "nobody")]).await;
    assert_eq!(answer.place(), "/partitions/p?key=nobody");
    assert!(site.page("/").await.contains("has no partition"));
    assert_eq!(trail(&site).await, ["pause p nobody failed"]);
}
