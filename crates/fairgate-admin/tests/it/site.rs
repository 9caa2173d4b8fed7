use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, Request, StatusCode};
use fairgate::queue::GraphileWorker;
use fairgate::{NewJob, Policy, Staged, Ticker};
use fairgate_admin::Admin;
use fairgate_testkit::TestDb;
use serde_json::{Value, json};
use tower::ServiceExt;

/// The pages of a database of their own, a ticker that is driven by hand, and a browser's cookies.
pub(crate) struct Site {
    pub(crate) db: TestDb,
    pub(crate) ticker: Ticker,
    router: Router,
    cookies: String,
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// A policy that lets one job of a tenant be in flight.
pub(crate) fn capped(name: &str) -> Policy {
    Policy::builder(name)
        .queue("main")
        .partition_by("tenant")
        .concurrency(|c| c.max(1.0))
        .build()
        .expect("a policy")
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::with(|admin| admin).await
    }

    pub(crate) async fn with(set: impl FnOnce(Admin) -> Admin) -> Self {
        let db = TestDb::new().await;
        let queue = GraphileWorker::new("graphile_worker").expect("a name");
        let builder = Ticker::builder(db.pool().clone()).queue("main", queue).expect("a name").max_waiting(0);
        let ticker = builder.policy(capped("p")).register().await.expect("registered");
        let router = set(Admin::new(db.pool().clone())).router();
        Self { db, ticker, router, cookies: String::new() }
    }

    /// Puts the pages below a path.
    pub(crate) fn nested(mut self, path: &str) -> Self {
        self.router = Router::new().nest(path, self.router);
        self
    }

    /// Stages jobs of a tenant and folds their reports in.
    pub(crate) async fn stage(&self, tenant: &str, count: usize) -> Vec<Staged> {
        let job = |n| {
            NewJob::new("work")
                .context(&json!({ "tenant": tenant }))
                .expect("a context")
                .payload(&json!({ "n": n }))
                .expect("a payload")
        };
        let jobs: Vec<NewJob> = (0..count).map(job).collect();
        let mut conn = self.db.pool().acquire().await.expect("a connection");
        let staged = fairgate::stage_many(&mut conn, "p", &jobs).await.expect("staged");
        fairgate::absorb::absorb(&mut conn, None).await.expect("absorbed");
        staged
    }

    /// One pass of the ticker.
    pub(crate) async fn pass(&mut self) -> u64 {
        let mut conn = self.db.pool().acquire().await.expect("a connection");
        self.ticker.pass(&mut conn, None, None).await.expect("a pass").ticks.jobs_admitted
    }

    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(self.db.pool()).await.expect("a number")
    }

    pub(crate) async fn ask(&mut self, request: Request<Body>) -> Answer {
        let (mut parts, body) = request.into_parts();
        if !self.cookies.is_empty() {
            parts.headers.insert(COOKIE, self.cookies.parse().expect("cookies"));
        }
        let answer = self.router.clone().oneshot(Request::from_parts(parts, body)).await.expect("an answer");
        let (status, headers) = (answer.status(), answer.headers().clone());
        for set in headers.get_all(SET_COOKIE) {
            let pair = set.to_str().expect("a cookie").split(';').next().expect("a pair").to_owned();
            let name = pair.split('=').next().expect("a name").to_owned() + "=";
            let others: Vec<&str> =
                self.cookies.split("; ").filter(|old| !old.is_empty() && !old.starts_with(&name)).collect();
            self.cookies = others.into_iter().chain([pair.as_str()]).collect::<Vec<_>>().join("; ");
        }
        let bytes = to_bytes(answer.into_body(), usize::MAX).await.expect("a body");
        Answer { status, headers, text: String::from_utf8(bytes.to_vec()).expect("text") }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask(Request::get(path).body(Body::empty()).expect("a request")).await
    }

    /// A page that must be there.
    pub(crate) async fn page(&mut self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.text
    }

    pub(crate) async fn json(&mut self, path: &str) -> Value {
        serde_json::from_str(&self.page(path).await).expect("JSON")
    }

    /// Sends a form with the token of the page that it stands on.
    pub(crate) async fn post(&mut self, on: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let page = self.page(on).await;
        let token = page.split("name=\"csrf\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
        let token = token.unwrap_or_default().to_owned();
        self.post_with(path, &[&[("csrf", token.as_str())], fields].concat()).await
    }

    /// Sends fields as they are.
    pub(crate) async fn post_with(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        let request = Request::post(path).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.ask(request.body(Body::from(body.join("&"))).expect("a request")).await
    }
}

impl Answer {
    /// Where it leads.
    pub(crate) fn place(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{}", self.text);
        self.headers[LOCATION].to_str().expect("a place")
    }
}
