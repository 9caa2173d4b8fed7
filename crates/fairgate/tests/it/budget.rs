//! One budget, many processes, each on a connection of its own.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fairgate::budget::{
    Allowance, Answer, Ask, Borrow, Budget, Class, LimitHeaders, Member, Permit, Plan, Reservation,
    ReserveError, Reserved, Transport, Verdict, Windows, request,
};
use fairgate_testkit::TestDb;
use sqlx::{Connection, PgConnection};
use tokio::task::JoinSet;

fn budget() -> Budget {
    let member = |name: &str| Member { name: name.to_owned(), share: "0.5".parse().unwrap() };
    let class = |name: &str, allowance, opens_windows, members| {
        let name = name.to_owned();
        Class { name, allowance, opens_windows, members }
    };
    let poll = class("poll", Allowance::Fixed(12), true, vec![]);
    let lookup = class("lookup", Allowance::Rest, false, vec![member("actor"), member("repository")]);
    let windows = Windows::FromHeaders(Duration::from_secs(3600));
    Budget::new("github", Plan::new("core", 60, 8, windows, vec![poll, lookup]).unwrap()).unwrap()
}

fn ask(budget: &Budget, class: &str, member: Option<&str>, borrow: Borrow) -> Ask {
    Ask::new(budget.plan(), budget.plan().lane(class, member).unwrap(), borrow).unwrap()
}

fn granted(reserved: Reserved) -> Reservation {
    match reserved {
        Reserved::Granted(reservation) => reservation,
        Reserved::Denied(denial) => panic!("denied: {denial:?}"),
    }
}

/// Counts what arrives.
#[derive(Default)]
struct Server(AtomicU32);

impl Transport for Server {
    type Request = ();
    type Response = u32;
    type Error = ();

    async fn send(&self, _: Permit, (): ()) -> Result<u32, ()> {
        Ok(self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

async fn told(conn: &mut PgConnection, remaining: u32) -> Answer {
    let reset_at = sqlx::query_scalar("SELECT now() + interval '1 h'").fetch_one(conn).await.unwrap();
    let headers = LimitHeaders { resource: Some("core".to_owned()), limit: 60, remaining, reset_at };
    Answer { headers: Some(headers), verdict: Verdict::Clean }
}

/// A window that one poll has opened.
async fn opened() -> (TestDb, Budget) {
    let (db, budget) = (TestDb::without_queue().await, budget());
    let mut conn = db.connect().await;
    let reserved = budget.reserve(&mut conn, ask(&budget, "poll", None, Borrow::No), None).await.unwrap();
    let sent = request(granted(reserved), &Server::default(), ()).await;
    let answer = told(&mut conn, 59).await;
    budget.reconcile(&mut conn, sent.spent, &answer, None).await.unwrap();
    (db, budget)
}

async fn used(db: &TestDb) -> Vec<(String, i32)> {
    sqlx::query_as("SELECT class || '/' || member, used FROM fairgate.budget_use ORDER BY 1")
        .fetch_all(db.pool())
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_at_once_spend_exactly_what_there_is() {
    let (db, budget) = opened().await;
    let server = std::sync::Arc::new(Server::default());
    let mut tasks = JoinSet::new();
    for n in 0..8 {
        let (budget, mut conn, server) = (budget.clone(), db.connect().await, server.clone());
        tasks.spawn(async move {
            let wishes = [("poll", None), ("lookup", Some("actor")), ("lookup", Some("repository"))];
            for round in 0..30 {
                let (class, member) = wishes[(n + round) % 3];
                let ask = ask(&budget, class, member, Borrow::No);
                if let Reserved::Granted(reservation) = budget.reserve(&mut conn, ask, None).await.unwrap() {
                    let sent = request(reservation, &*server, ()).await;
                    let answer = Answer { headers: None, verdict: Verdict::Clean };
                    budget.reconcile(&mut conn, sent.spent, &answer, None).await.unwrap();
                }
            }
        });
    }
    tasks.join_all().await;
    let expected = [("lookup/actor", 20), ("lookup/repository", 20), ("poll/", 12)];
    assert_eq!(used(&db).await, expected.map(|(lane, used)| (lane.to_owned(), used)));
    assert_eq!(server.0.load(Ordering::SeqCst), 51, "the first poll went to another server");
    let (ledger, _) = budget.read(&mut db.connect().await, None).await.unwrap();
    assert_eq!(ledger.window.remaining, Some(8));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn borrowers_at_once_stop_at_the_class() {
    let (db, budget) = opened().await;
    let mut tasks = JoinSet::new();
    for _ in 0..6 {
        let (budget, mut conn) = (budget.clone(), db.connect().await);
        tasks.spawn(async move {
            let ask = ask(&budget, "lookup", Some("actor"), Borrow::OthersHaveNoWork);
            let mut had = 0;
            while let Reserved::Granted(reservation) = budget.reserve(&mut conn, ask, None).await.unwrap() {
                drop(reservation);
                had += 1;
            }
            had
        });
    }
    assert_eq!(tasks.join_all().await.into_iter().sum::<i32>(), 40);
    let class: i32 = sqlx::query_scalar("SELECT used FROM fairgate.budget_classes WHERE class = 'lookup'")
        .fetch_one(db.pool())
        .await
        .unwrap();
    assert_eq!(class, 40);
}

#[tokio::test]
async fn a_dropped_reservation_stays_spent() {
    let (db, budget) = opened().await;
    let mut conn = db.connect().await;
    let wish = ask(&budget, "poll", None, Borrow::No);
    drop(granted(budget.reserve(&mut conn, wish, None).await.unwrap()));
    assert!(used(&db).await.contains(&("poll/".to_owned(), 2)));
}

#[tokio::test]
async fn reserving_in_an_open_transaction_is_an_error() {
    let (db, budget) = opened().await;
    let mut conn = db.connect().await;
    let wish = ask(&budget, "poll", None, Borrow::No);
    let mut tx = conn.begin().await.unwrap();
    let error = budget.reserve(&mut tx, wish, None).await.unwrap_err();
    assert!(matches!(error, ReserveError::InTransaction), "{error}");
    tx.rollback().await.unwrap();
    // One that the driver does not know of.
    sqlx::raw_sql("BEGIN").execute(&mut conn).await.unwrap();
    assert!(matches!(budget.reserve(&mut conn, wish, None).await, Err(ReserveError::InTransaction)));
    sqlx::raw_sql("ROLLBACK").execute(&mut conn).await.unwrap();
    assert!(matches!(budget.reserve(&mut conn, wish, None).await, Ok(Reserved::Granted(_))));
}

#[tokio::test]
async fn a_denied_wish_writes_nothing() {
    let (db, budget) = opened().await;
    let mut conn = db.connect().await;
    let everything = "SELECT array_agg(b::text || b.xmin) FROM fairgate.budget b";
    let state =
        || async { sqlx::query_scalar::<_, Vec<String>>(everything).fetch_one(db.pool()).await.unwrap() };
    sqlx::raw_sql(
        "UPDATE fairgate.budget SET blocked_until = now() + interval '1 h', block_reason = 'secondary_limit'",
    )
    .execute(&mut conn)
    .await
    .unwrap();
    let before = state().await;
    let wish = ask(&budget, "poll", None, Borrow::No);
    assert!(matches!(budget.reserve(&mut conn, wish, None).await, Ok(Reserved::Denied(_))));
    assert_eq!(state().await, before);
}

#[tokio::test]
async fn a_window_that_is_over_gives_way_with_the_next_debit() {
    let (db, budget) = opened().await;
    let mut conn = db.connect().await;
    let later = sqlx::query_scalar("SELECT now() + interval '61 min'").fetch_one(&mut conn).await.unwrap();
    let lookup = ask(&budget, "lookup", Some("actor"), Borrow::No);
    assert!(matches!(budget.reserve(&mut conn, lookup, Some(later)).await, Ok(Reserved::Denied(_))));
    let poll = ask(&budget, "poll", None, Borrow::No);
    let reservation = granted(budget.reserve(&mut conn, poll, Some(later)).await.unwrap());
    assert_eq!(reservation.changes(), [fairgate::budget::Change::WindowRolled]);
    let (ledger, _) = budget.read(&mut conn, Some(later)).await.unwrap();
    assert_eq!((ledger.window.number, ledger.window.remaining, ledger.window.used[0]), (2, None, 1));
}

#[tokio::test]
async fn the_table_refuses_half_a_window_and_a_block_without_a_reason() {
    let (db, _) = opened().await;
    for broken in [
        "UPDATE fairgate.budget SET reset_at = NULL",
        "UPDATE fairgate.budget SET blocked_until = now()",
        "UPDATE fairgate.budget SET remaining = -1",
        "UPDATE fairgate.budget_use SET used = -1",
    ] {
        let error = sqlx::raw_sql(broken).execute(db.pool()).await.unwrap_err();
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), "23514", "{broken}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budgets_beside_each_other_share_pauses_whichever_is_answered_and_never_wait_in_a_circle() {
    let (db, one) = opened().await;
    let class =
        Class { name: "poll".to_owned(), allowance: Allowance::Rest, opens_windows: true, members: vec![] };
    let plan =
        Plan::new("search", 10_000, 0, Windows::FromHeaders(Duration::from_secs(60)), vec![class]).unwrap();
    let other = Budget::new("a-search", plan).unwrap();
    let mut tasks = JoinSet::new();
    for n in 0..40 {
        let (mut conn, one, other) = (db.connect().await, one.clone(), other.clone());
        tasks.spawn(async move {
            let (own, beside) = if n % 4 == 0 { (&one, &other) } else { (&other, &one) };
            let class = ask(own, "poll", None, Borrow::No);
            let Reserved::Granted(reservation) = own.reserve(&mut conn, class, None).await.unwrap() else {
                return;
            };
            let sent = request(reservation, &Server::default(), ()).await;
            let answer = Answer { headers: None, verdict: Verdict::Unrelated };
            own.reconcile_beside(&mut conn, sent.spent, &answer, &[beside, own], None).await.unwrap();
        });
    }
    tasks.join_all().await;
    let mut conn = db.connect().await;
    let last = granted(other.reserve(&mut conn, ask(&other, "poll", None, Borrow::No), None).await.unwrap());
    let sent = request(last, &Server::default(), ()).await;
    let pause = Answer { headers: None, verdict: Verdict::SecondaryLimit(Some(Duration::from_secs(90))) };
    other.reconcile_beside(&mut conn, sent.spent, &pause, &[&one], None).await.unwrap();
    for budget in [&one, &other] {
        let denied = budget.reserve(&mut conn, ask(budget, "poll", None, Borrow::No), None).await.unwrap();
        assert!(
            matches!(denied, Reserved::Denied(denial) if denial.reason.code() == "globally_blocked"),
            "{}",
            budget.name()
        );
    }
}
