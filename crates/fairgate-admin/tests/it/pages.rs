//! What the pages show.

use crate::site::Site;

#[tokio::test]
async fn the_dashboard_counts_what_waits_and_says_what_needs_an_operator() {
    let mut site = Site::new().await;
    site.stage("a", 3).await;
    site.pass().await;
    sqlx::raw_sql("UPDATE fairgate.partition_state SET due_at = now()")
        .execute(site.db.pool())
        .await
        .expect("due");
    site.pass().await;
    let page = site.page("/").await;
    assert!(page.contains("data-code=\"no_ticker\""), "{page}");
    assert!(page.contains("all slots in use"));
    site.post("/policies/p", "/policies/p/pause", &[]).await;
    assert!(site.page("/").await.contains("paused: 2 jobs wait"));
}

#[tokio::test]
async fn three_clicks_lead_from_the_dashboard_to_why_a_job_waits() {
    let mut site = Site::new().await;
    let staged = site.stage("a", 2).await;
    site.pass().await;
    assert!(site.page("/").await.contains("href=\"/policies/p\""));
    assert!(site.page("/policies/p").await.contains("href=\"/partitions/p?key=a\""));
    let partition = site.page("/partitions/p?key=a").await;
    let job = format!("/jobs/{}", staged[1].job_id);
    assert!(partition.contains(&format!("href=\"{job}\"")), "{partition}");
    assert!(partition.contains("1 of 1 used"));
    let page = site.page(&job).await;
    assert!(page.contains("It is the next in line.") && page.contains("a job to finish"), "{page}");
    assert!(page.contains(&staged[0].job_id.to_string()), "who holds the slot is named");
}

#[tokio::test]
async fn partitions_are_found_literally_sorted_and_filtered() {
    let mut site = Site::new().await;
    for (tenant, jobs) in [("acct%1", 1), ("acct_2", 3), ("other", 2)] {
        site.stage(tenant, jobs).await;
    }
    let keys = |page: &str| -> Vec<String> {
        page.split("class=\"key\"")
            .skip(1)
            .map(|rest| rest.split(['>', '<']).nth(1).expect("a key").to_owned())
            .collect()
    };
    assert_eq!(keys(&site.page("/partitions/p").await), ["acct_2", "other", "acct%1"]);
    assert_eq!(keys(&site.page("/partitions/p?search=%25").await), ["acct%1"]);
    assert_eq!(keys(&site.page("/partitions/p?search=_").await), ["acct_2"]);
    assert_eq!(keys(&site.page("/partitions/p?sort=key&search=acct").await), ["acct%1", "acct_2"]);
    assert_eq!(keys(&site.page("/partitions/p?search=%00").await), [""; 0]);
    sqlx::raw_sql("UPDATE fairgate.partition_state SET pending = 0 WHERE pending = 2")
        .execute(site.db.pool())
        .await
        .expect("updated");
    assert_eq!(keys(&site.page("/partitions/p?waiting=1").await), ["acct_2", "acct%1"]);
}

#[tokio::test]
async fn a_mark_that_somebody_made_up_leads_to_a_page() {
    let mut site = Site::new().await;
    site.stage("a", 1).await;
    for forged in ["x", "~", "NaN~a", "1~", "inf~z", "-1e308~%27%3B--", "1~%00", "1~%FF"] {
        site.page(&format!("/partitions/p?after={forged}")).await;
    }
}

#[tokio::test]
async fn unknown_things_are_told_with_their_status() {
    let mut site = Site::new().await;
    for (path, status, words) in [
        ("/nope", 404, "no such page"),
        ("/policies/nope", 404, "not registered"),
        ("/policies/%20", 400, "policy name"),
        ("/partitions/p?key=nobody", 404, "no partition"),
        ("/partitions/p?key=", 400, "must not be empty"),
        ("/jobs/nope", 400, "UUID"),
        ("/api/v1/nope", 404, "no such page"),
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.text.contains(words), "{path}: {}", answer.text);
    }
    let gone = site.page("/jobs/01970000-0000-7000-8000-000000000000").await;
    assert!(gone.contains("This job is not here"));
    assert_eq!(site.get("/jobs?id=%20x").await.place(), "/");
}

#[tokio::test]
async fn a_database_without_our_schema_is_not_ready_and_the_pages_say_why() {
    let mut site = Site::new().await;
    sqlx::raw_sql("DROP SCHEMA fairgate CASCADE").execute(site.db.pool()).await.expect("dropped");
    assert_eq!(site.get("/health/live").await.status, 200);
    assert_eq!(site.get("/health/ready").await.status, 503);
    let answer = site.get("/").await;
    assert_eq!(answer.status, 503);
    assert!(answer.text.contains("fairgate migrate"), "{}", answer.text);
}
