//! The JSON is the library's own, as the command prints it.

use fairgate::observe;
use serde_json::{Value, json, to_value};

use crate::site::Site;

#[tokio::test]
async fn the_status_policies_and_partitions_are_those_of_the_library() {
    let mut site = Site::new().await;
    site.stage("a", 2).await;
    site.pass().await;
    let mut conn = site.db.connect().await;
    let status = observe::status(&mut conn).await.expect("a status");
    assert_eq!(site.json("/api/v1/status").await, to_value(&status).expect("JSON"));
    assert_eq!(site.json("/api/v1/policies").await["policies"], to_value(&status.policies).expect("JSON"));
    let name = "p".parse().expect("a name");
    let listed = observe::partitions(&mut conn, &name, None, Default::default(), 10).await.expect("a list");
    assert_eq!(site.json("/api/v1/partitions/p").await, json!({ "policy": "p", "partitions": listed }));
}

#[tokio::test]
async fn pages_of_partitions_cover_every_one_once() {
    let mut site = Site::new().await;
    for n in 0..7 {
        site.stage(&format!("t{n}"), 1 + n % 3).await;
    }
    for sort in ["pending", "in_flight", "key", "due", "recent", "admitted"] {
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let page = site.json(&format!("/api/v1/partitions/p?sort={sort}&limit=2{after}")).await;
            for one in page["partitions"].as_array().expect("a list") {
                seen.push(one["key"].as_str().expect("a key").to_owned());
            }
            match &page["next"] {
                Value::String(next) => {
                    after = format!("&after={}", next.replace('~', "%7E").replace(' ', "%20"));
                }
                _ => break,
            }
        }
        assert_eq!(seen.len(), 7, "{sort}");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 7, "{sort}: each once");
    }
}

#[tokio::test]
async fn a_job_and_a_partition_are_explained() {
    let mut site = Site::new().await;
    let staged = site.stage("a", 2).await;
    site.pass().await;
    let job = site.json(&format!("/api/v1/jobs/{}", staged[1].job_id)).await;
    assert_eq!((&job["state"], &job["ahead"]), (&json!("staged"), &json!(0)));
    let partition = site.json("/api/v1/explain/p?key=a").await;
    assert_eq!(partition["gates"][0]["used"], json!(1));
}

#[tokio::test]
async fn the_rest_of_the_addresses_answer_with_their_documents() {
    let mut site = Site::new().await;
    site.stage("a", 2).await;
    site.pass().await;
    assert_eq!(site.json("/api/v1/trend?window=1h").await["buckets"].as_array().map(Vec::len), Some(60));
    let trend = site.json("/api/v1/trend?policy=p").await;
    let admitted: i64 =
        trend["buckets"].as_array().expect("a list").iter().filter_map(|one| one["admitted"].as_i64()).sum();
    assert_eq!(admitted, 1);
    assert_eq!(site.json("/api/v1/hints").await["hints"][0]["code"], "no_ticker");
    assert_eq!(site.json("/api/v1/queues").await["queues"][0]["name"], "main");
    assert_eq!(site.json("/api/v1/policies/p").await["fairness"]["jain"], json!(1.0));
    assert_eq!(site.json("/api/v1/policies/p/overrides").await["overrides"], json!([]));
    assert_eq!(site.json("/api/v1/quarantine?policy=p").await["jobs"], json!([]));
    assert_eq!(site.json("/api/v1/audit").await["entries"], json!([]));
    assert_eq!(site.json("/api/v1/openapi.json").await["openapi"], "3.1.0");
}

#[tokio::test]
async fn wrong_questions_get_json_that_says_what_is_wrong() {
    let mut site = Site::new().await;
    for (path, status) in [
        ("/api/v1/partitions/p?sort=size", 400),
        ("/api/v1/partitions/p?limit=0", 400),
        ("/api/v1/partitions/p?after=x", 400),
        ("/api/v1/partitions/q", 404),
        ("/api/v1/trend?window=1y", 400),
        ("/api/v1/audit?before=x", 400),
        ("/api/v1/jobs/x", 400),
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, status, "{path}");
        let told: Value = serde_json::from_str(&answer.text).expect("JSON");
        assert!(told["error"].is_string(), "{path}: {told}");
    }
}
