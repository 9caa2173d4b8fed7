//! Payloads: the bytes that came in are the bytes that the queue gets.

use fairgate::StageError;

use crate::doors::{DOORS, Door, Draft};
use crate::world::{World, name, open};

/// JSON texts that lose something when anybody reads and writes them again.
const PAYLOADS: [&str; 22] = [
    r#"{"z":"\u0000","n":1e400,"m":-0}"#,
    r#"{"b":1,"a":2,"b":3}"#,
    r#"{"z":1,"y":{"z":2,"a":[3,2,1]},"a":0}"#,
    "{ \"a\" :\t1 ,\n \"b\" : [ 1 , 2 ] }",
    "9223372036854775807",
    "[9223372036854775808,-9223372036854775809,123456789012345678901234567890123456789012345678901234567890]",
    "[1.0,1.10,1e2,1E+2,-0,-0.0,0e0,1e-400,0.1000000000000000055511151231257827021181583404541015625]",
    r#"["\u0000"]"#,
    r#"["\\u0000"]"#,
    r#"["\\\u0000"]"#,
    r#"["\\\\u0000","\\\\\u0000"]"#,
    r#"{"\u0000":"\u0000\u0000x\u0000"}"#,
    r#"{"\\u0000":"\\\\\\u0000"}"#,
    r#"["\u00e9","é","e\u0301","\ud83e\udd80","🦀","\/","/","\u002f","\u007f"]"#,
    r#""\"\\\/\b\f\n\r\t""#,
    "null",
    "true",
    r#""""#,
    "{}",
    "[]",
    r#"{"payload":{"payload":{"task":"x","context":null}},"task":"not the task"}"#,
    r#"{"":"","nul0000":"nul"}"#,
];

fn drafts() -> Vec<Draft> {
    PAYLOADS.iter().map(|p| Draft { payload: (*p).to_owned(), ..Draft::of("t") }).collect()
}

const STAGED: &str = "SELECT payload::text FROM fairgate.staged ORDER BY job_id";
const QUEUED: &str = "SELECT payload::text FROM graphile_worker._private_jobs ORDER BY id";

#[tokio::test]
async fn payloads_reach_staging_and_the_queue_byte_for_byte_by_every_door() {
    for door in DOORS {
        let mut world = World::new(vec![open("p")]).await;
        door.stage(&mut *world.conn().await, "p", &drafts()).await.unwrap();
        assert_eq!(world.column(STAGED).await, PAYLOADS, "{door:?}");
        assert_eq!(world.settle().await, PAYLOADS.len() as u64);
        assert_eq!(world.column(QUEUED).await, PAYLOADS, "{door:?}");
    }
}

#[tokio::test]
async fn payloads_that_are_sent_while_disabled_reach_the_queue_byte_for_byte() {
    let world = World::new(vec![open("p")]).await;
    fairgate::operate::set_policy_enabled(&mut *world.conn().await, &name("p"), false).await.unwrap();
    for door in DOORS {
        door.stage(&mut *world.conn().await, "p", &drafts()).await.unwrap();
        assert_eq!(world.column(QUEUED).await, PAYLOADS, "{door:?}");
        world.execute("DELETE FROM graphile_worker._private_jobs").await;
    }
}

#[tokio::test]
async fn a_bulk_call_in_sql_finds_payloads_among_any_other_members() {
    let world = World::new(vec![open("p")]).await;
    let jobs = r#" [ {"payload" : {"n":"\u0000"} , "priority":1, "task":"work","context":{"tenant":"\\u0000"}},
        {"context":{"tenant":"a","note":"\\\\u0000 \ud83e\udd80"},"task":"work"},
        {"task":"w\u006frk","payload":null,"context":{"tenant":"a"},"partition_key":null,"run_at":null} ] "#;
    let sql = "SELECT ordinal FROM fairgate.stage_many('p', $1::text::json)";
    let ordinals: Vec<i64> = sqlx::query_scalar(sql).bind(jobs).fetch_all(world.pool()).await.unwrap();
    assert_eq!(ordinals, [1, 2, 3]);
    assert_eq!(world.column(STAGED).await, [r#"{"n":"\u0000"}"#, "{}", "null"]);
    let keys = "SELECT partition_key || '|' || task || '|' || coalesce(context ->> 'note', '') FROM fairgate.staged ORDER BY job_id";
    assert_eq!(world.column(keys).await, [r"\u0000|work|", r"a|work|\\u0000 🦀", "a|work|"]);
}

#[tokio::test]
async fn an_escaped_nul_outside_the_payload_is_refused_with_its_place() {
    let world = World::new(vec![open("p")]).await;
    for door in DOORS {
        let draft = Draft::new(r#"{"tenant":"a","x":"\u0000"}"#);
        let error = door.stage(&mut *world.conn().await, "p", &[Draft::of("a"), draft]).await.unwrap_err();
        let words = match (&error, door) {
            (StageError::Job(_), Door::RustOne | Door::RustMany) => "an escaped NUL (\\u0000) at byte 19",
            (StageError::BadJob { .. }, Door::SqlMany) => {
                "job 2: an escaped NUL (\\u0000) or half of a surrogate pair stands outside"
            }
            // The argument is jsonb, so PostgreSQL refuses it before the function is called.
            (StageError::Database(_), Door::SqlOne) => "unsupported Unicode escape sequence",
            _ => panic!("{door:?}: {error:?}"),
        };
        assert!(error.to_string().contains(words), "{door:?}: {error}");
    }
    for job in [
        r#"{"task":"a\u0000"}"#,
        r#"{"task":"a","partition_key":"\u0000"}"#,
        r#"{"task":"a","queue_name":"\u0000"}"#,
    ] {
        let sql = format!("SELECT FROM fairgate.stage_many('p', '[{job}]')");
        let error = sqlx::query(sqlx::AssertSqlSafe(sql)).execute(world.pool()).await.unwrap_err();
        assert!(error.to_string().contains("job 1: an escaped NUL"), "{job}: {error}");
    }
}

#[tokio::test]
async fn half_a_surrogate_pair_in_a_payload_goes_by_every_door() {
    let half = [
        r#"["\ud83e"]"#,
        r#"["\udd80 \ud83e\udd80\ud83e"]"#,
        r#"["\\\ud83e \\ud83e"]"#,
        r#"{"\udead":"\u0000\udead"}"#,
    ];
    for door in DOORS {
        let mut world = World::new(vec![open("p")]).await;
        let drafts: Vec<_> =
            half.iter().map(|p| Draft { payload: (*p).to_owned(), ..Draft::of("t") }).collect();
        door.stage(&mut *world.conn().await, "p", &drafts).await.unwrap_or_else(|e| panic!("{door:?}: {e}"));
        assert_eq!(world.settle().await, half.len() as u64);
        assert_eq!(world.column(QUEUED).await, half, "{door:?}");
    }
}

#[tokio::test]
async fn what_is_no_array_of_job_objects_is_refused_with_the_place_and_the_known_keys() {
    let world = World::new(vec![open("p")]).await;
    for (jobs, problem) in [
        ("{}", "jobs is a JSON object, it must be a JSON array of objects"),
        (
            "[{\"task\":\"a\",\"context\":{\"tenant\":\"t\"}},7]",
            "job 2: is a JSON number, it must be an object",
        ),
        ("[{\"task\":\"a\"},{\"tusk\":\"a\"}]", "job 2: unknown key \"tusk\""),
        ("[{\"payload\":{}}]", "job 1: task is missing"),
        ("[{\"task\":\"a\",\"context\":[]}]", "job 1: context is array, it must be a JSON object"),
        (
            "[{\"task\":\"a\",\"context\":{\"tenant\":\"t\"},\"dedupe_key\":\"\"}]",
            "job 1: dedupe_key is empty",
        ),
    ] {
        let sql = "SELECT FROM fairgate.stage_many('p', $1::text::json)";
        let error = sqlx::query(sql).bind(jobs).execute(world.pool()).await.unwrap_err();
        assert_eq!(error.as_database_error().unwrap().message(), problem);
    }
    assert_eq!(world.number("SELECT count(*) FROM fairgate.stage_many('p', '[]')").await, 0);
}
