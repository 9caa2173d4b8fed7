//! Who may see the pages, and who may change something.

use std::net::SocketAddr;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use fairgate_admin::{Access, Admin, BindError, bind};
use fairgate_testkit::TestDb;

use crate::site::Site;

fn request(path: &str, header: (&str, &str)) -> Request<Body> {
    Request::get(path).header(header.0, header.1).body(Body::empty()).expect("a request")
}

#[tokio::test]
async fn a_password_guards_everything_but_health() {
    let mut site = Site::with(|admin| admin.access(Access::password("right"))).await;
    for path in ["/", "/metrics", "/api/v1/status", "/policies/p"] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(answer.headers.contains_key("www-authenticate"));
    }
    assert_eq!(site.get("/health/live").await.status, StatusCode::OK);
    assert_eq!(site.get("/health/ready").await.status, StatusCode::OK);
    // ann:wrong, ann:right
    let wrong = site.ask(request("/", ("authorization", "Basic YW5uOndyb25n"))).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    let right = site.ask(request("/", ("authorization", "Basic YW5uOnJpZ2h0"))).await;
    assert_eq!(right.status, StatusCode::OK);
    assert!(right.text.contains("you are ann"));
}

#[tokio::test]
async fn a_proxys_header_names_who_asks() {
    let mut site = Site::with(|admin| admin.access(Access::Header("x-user".to_owned()))).await;
    assert_eq!(site.get("/").await.status, StatusCode::UNAUTHORIZED);
    let answer = site.ask(request("/", ("x-user", "bob"))).await;
    assert!(answer.text.contains("you are bob"));
}

#[tokio::test]
async fn pages_for_this_machine_refuse_other_host_names() {
    let mut site = Site::with(|admin| admin.local_only(true)).await;
    for (host, status) in [
        ("localhost:8484", StatusCode::OK),
        ("127.0.0.1:8484", StatusCode::OK),
        ("[::1]:8484", StatusCode::OK),
        ("evil.example", StatusCode::FORBIDDEN),
        ("127.0.0.1.evil.example", StatusCode::FORBIDDEN),
    ] {
        assert_eq!(site.ask(request("/", ("host", host))).await.status, status, "{host}");
    }
}

#[tokio::test]
async fn an_address_that_others_reach_needs_a_password_or_a_word() {
    let db = TestDb::without_queue().await;
    let anywhere: SocketAddr = "0.0.0.0:0".parse().expect("an address");
    let open = || Admin::new(db.pool().clone());
    let refused = bind(open(), anywhere, false).await.expect_err("refused");
    assert!(matches!(refused, BindError::Unprotected { .. }), "{refused}");
    bind(open(), anywhere, true).await.expect("everybody may");
    bind(open().access(Access::password("x")), anywhere, false).await.expect("it asks");
    bind(open(), "127.0.0.1:0".parse().expect("an address"), false).await.expect("loopback");
}

#[tokio::test]
async fn a_form_without_the_browsers_token_changes_nothing() {
    let mut site = Site::new().await;
    let answer = site.post_with("/policies/p/pause", &[]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let mut stranger = Site::new().await;
    let page = stranger.page("/policies/p").await;
    let token =
        page.split("name=\"csrf\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a token");
    let answer = site.post_with("/policies/p/pause", &[("csrf", token)]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(site.number("SELECT count(*) FROM fairgate.policy WHERE paused").await, 0);
    assert_eq!(site.number("SELECT count(*) FROM fairgate.audit").await, 0);
}

#[tokio::test]
async fn pages_for_reading_only_have_no_forms_and_refuse_what_would_change_something() {
    let mut site = Site::with(|admin| admin.read_only(true)).await;
    let staged = site.stage("a", 1).await;
    for path in
        ["/policies/p".to_owned(), "/partitions/p?key=a".to_owned(), format!("/jobs/{}", staged[0].job_id)]
    {
        assert!(!site.page(&path).await.contains("method=\"post\""), "{path}");
    }
    let answer = site.post_with("/policies/p/pause", &[]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.text.contains("for reading only"));
    assert_eq!(site.number("SELECT count(*) FROM fairgate.policy WHERE paused").await, 0);
}
