//! Partition keys: any text, by its bytes, the same in SQL and in Rust.

use fairgate::{Context, Policy, StageError};
use fairgate_core::template::Template;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::doors::{DOORS, Door, Draft};
use crate::world::{World, open};

#[tokio::test]
async fn a_key_of_10000_bytes_is_taken_and_one_more_is_refused() {
    let mut world = World::new(vec![open("p")]).await;
    let longest = "ä".repeat(5_000);
    let (fits, too_long) = (json!({ "tenant": longest }), json!({ "tenant": format!("{longest}x") }));
    for door in DOORS {
        door.stage(&mut *world.conn().await, "p", &[Draft::new(fits.to_string())]).await.unwrap();
        let refused = door.stage(&mut *world.conn().await, "p", &[Draft::new(too_long.to_string())]).await;
        let error = refused.unwrap_err();
        assert!(matches!(error, StageError::BadKey { .. }), "{door:?}: {error:?}");
        assert!(error.to_string().contains("the partition key is 10001 bytes long"), "{door:?}: {error}");
    }
    assert_eq!(world.settle().await, 4);
    assert_eq!(world.column("SELECT key FROM fairgate.partitions").await, [longest]);
}

#[tokio::test]
async fn keys_are_distinct_by_their_bytes_and_kept_whole() {
    let mut world = World::new(vec![open("p")]).await;
    let mut keys = vec![
        "a",
        "A",
        "a ",
        " a",
        " ",
        "  ",
        "\t",
        "a\n",
        "\u{e9}",
        "e\u{301}",
        "\u{212b}",
        "\u{c5}",
        "ß",
        "ss",
        "null",
        "NULL",
        "1",
        "1.0",
        "01",
        "true",
        "\u{feff}a",
        "\u{200b}a",
        "{}",
        "\"a\"",
        "\\",
        "'",
        "%",
        "🦀",
    ];
    let (one, other) = (format!("{}1", "k".repeat(9_999)), format!("{}2", "k".repeat(9_999)));
    keys.extend([one.as_str(), other.as_str()]);
    let drafts: Vec<_> = keys
        .iter()
        .flat_map(|key| [Draft::keyed(key), Draft::new(json!({ "tenant": key }).to_string())])
        .collect();
    for door in DOORS {
        door.stage(&mut *world.conn().await, "p", &drafts).await.unwrap();
    }
    assert_eq!(world.settle().await, keys.len() as u64 * 8);
    keys.sort_unstable();
    let kept = "SELECT key FROM fairgate.partitions ORDER BY key COLLATE \"C\"";
    assert_eq!(world.column(kept).await, keys);
    assert_eq!(
        world.number("SELECT count(*) FROM fairgate.partitions WHERE admitted = 8").await,
        keys.len() as i64
    );
}

#[tokio::test]
async fn absent_null_and_empty_are_refused_by_name_and_never_confused_with_text() {
    let world = World::new(vec![open("p"), closed()]).await;
    let cases = [
        ("{}", "partition_by: context \"tenant\" is missing"),
        (r#"{"tenant":null}"#, "partition_by: context \"tenant\" is null"),
        (r#"{"tenant":""}"#, "the partition key is empty"),
        (r#"{"tenant":["a"]}"#, "partition_by: context \"tenant\" is an array"),
        (r#"{"tenant":{"a":"b"}}"#, "partition_by: context \"tenant\" is an object"),
        (
            r#"{"tenant":1.5}"#,
            "partition_by: context \"tenant\" is the number 1.5, which is not a 64-bit integer",
        ),
    ];
    for door in DOORS {
        let job = if matches!(door, Door::RustMany | Door::SqlMany) { "job 1: " } else { "job: " };
        for (context, problem) in cases {
            let error = door.stage(&mut *world.conn().await, "p", &[Draft::new(context)]).await.unwrap_err();
            assert!(matches!(error, StageError::BadKey { .. }), "{door:?}: {error:?}");
            assert_eq!(error.to_string(), format!("{job}{problem}"), "{door:?}");
        }
        let refused = door.stage(&mut *world.conn().await, "closed", &[Draft::of("a")]).await;
        assert_eq!(refused.unwrap_err().to_string(), format!("{job}partition_key is missing"), "{door:?}");
        door.stage(&mut *world.conn().await, "p", &[Draft::new(r#"{"tenant":"null"}"#)]).await.unwrap();
    }
    let empty = "SELECT outcome FROM fairgate.stage('p', 'work', '{}', partition_key => '')";
    let error = sqlx::query(empty).execute(world.pool()).await.unwrap_err();
    assert!(error.to_string().contains("the partition key is empty"), "{error}");
    assert_eq!(world.column("SELECT DISTINCT partition_key FROM fairgate.staged").await, ["null"]);
}

fn closed() -> Policy {
    let key = |context: &Context| context.as_json().to_owned();
    Policy::builder("closed").queue("main").partition_by_fn(key).build().expect("a policy")
}

#[tokio::test]
async fn a_key_that_a_closure_computes_is_computed_in_rust_by_both_doors() {
    let mut world = World::new(vec![closed()]).await;
    let mut conn = world.conn().await;
    let job = crate::world::job("t").priority(3).queue_name("q");
    fairgate::stage(&mut conn, &closed(), &job).await.unwrap();
    fairgate::stage_many(&mut conn, &closed(), &[job]).await.unwrap();
    drop(conn);
    assert_eq!(world.settle().await, 2);
    let key: Value = serde_json::from_str(&world.text("SELECT key FROM fairgate.partitions").await).unwrap();
    assert_eq!(key, json!({ "tenant": "t", "priority": 3, "queue_name": "q" }));
}

const TEMPLATES: [&str; 5] = ["k", "a.b", "acct:{a.b}", "{k}/{a.b}", "{{{k}}}-ä"];

/// Both sides' answer for one context: the key, or None where there is none.
async fn both(pool: &sqlx::PgPool, parts: &Value, template: &Template, context: &str) -> [Option<String>; 2] {
    let rust = Context::parse(context).ok().and_then(|context| template.render_text(&context).ok());
    let sql = "SELECT fairgate.render($1, $2::text::jsonb, 'partition_by')";
    let sql: Result<String, sqlx::Error> =
        sqlx::query_scalar(sql).bind(parts).bind(context).fetch_one(pool).await;
    if let Err(error) = &sql {
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code).unwrap_or_default();
        // Ours, or jsonb's own: a number or an escape that it cannot store.
        assert!(["FG003", "22003", "22P02", "22P05"].contains(&code.as_ref()), "{context}: {error}");
    }
    [sql.ok(), rust]
}

/// The templates as a registered policy keeps them.
async fn templates(world: &mut World) -> Vec<(Value, Template)> {
    let mut parts = Vec::new();
    for (n, template) in TEMPLATES.iter().enumerate() {
        let p = Policy::builder(&format!("p{n}"))
            .queue("main")
            .partition_by(*template)
            .build()
            .expect("a policy");
        crate::world::ticker(world.pool(), vec![p], fairgate::Settings::default()).await;
        let kept =
            world.text(&format!("SELECT key_parts::text FROM fairgate.policy WHERE name = 'p{n}'")).await;
        parts.push((kept.parse().expect("JSON"), Template::parse(template).expect("a template")));
    }
    parts
}

#[tokio::test]
async fn awkward_numbers_give_the_same_key_in_sql_and_in_rust() {
    let mut world = World::new(vec![]).await;
    let all = templates(&mut world).await;
    let numbers = "0 -0 -0.0 0.0 0e0 -0e5 0e-5 1 -1 1.0 1.5 1e2 1E2 1e+2 1.5e1 1.50e1 150e-1 100e-2 1e0 1e-0 10e-1 1e18 1e19 1e400 1e-400 1e100000
        123456789012345678 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551616
        9.223372036854775807e18 0.1e1 1e2147483647 1e-2147483648 1e99999999999999999999 12345678901234567890123e-4";
    for number in numbers.split_whitespace() {
        for (parts, template) in &all {
            let context = format!(r#"{{"k":{number},"a":{{"b":{number}}}}}"#);
            let [sql, rust] = both(world.pool(), parts, template, &context).await;
            assert_eq!(sql, rust, "{context} by {template}");
        }
    }
    let [sql, rust] = both(world.pool(), &all[0].0, &all[0].1, r#"{"k":1e2}"#).await;
    assert_eq!((sql.as_deref(), rust.as_deref()), (Some("100"), Some("100")));
}

/// JSON text, written as clumsily as the grammar allows.
fn values() -> impl Strategy<Value = String> {
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?";
    let escape = prop_oneof![
        Just("\\n".to_owned()),
        Just("\\\"".to_owned()),
        Just("\\\\".to_owned()),
        Just("\\/".to_owned()),
        Just("\\u00e9".to_owned()),
        Just("\\ud83e\\udd80".to_owned()),
        Just("\\u0000".to_owned()),
        Just("\\ud83e".to_owned()),
        Just("\\\\u0000".to_owned()),
        Just("é".to_owned()),
        Just("e\u{301}".to_owned()),
        Just("k".to_owned()),
        Just(" ".to_owned()),
    ];
    let string = prop::collection::vec(escape, 0..4).prop_map(|parts| format!("\"{}\"", parts.concat()));
    let word = prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned);
    let leaf = prop_oneof![4 => number, 4 => string, 1 => word];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![Just("k"), Just("a"), Just("b"), Just("\\u006b"), Just("c")];
        let members = prop::collection::vec((name, inner.clone()), 0..4);
        let object = members.prop_map(|m| {
            format!("{{{}}}", m.iter().map(|(k, v)| format!("\"{k}\" : {v}")).collect::<Vec<_>>().join(" ,"))
        });
        let array = prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(", ")));
        prop_oneof![3 => object, 1 => array]
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn sql_and_rust_compute_the_same_key_from_every_context() {
    let mut world = World::new(vec![]).await;
    let all = templates(&mut world).await;
    let pool = world.pool().clone();
    let here = tokio::runtime::Handle::current();
    let (k, a, c) = (values(), values(), values());
    let contexts =
        (k, a.prop_map(|v| format!(r#"{{"b":{v}}}"#)), c, any::<bool>()).prop_map(|(k, a, c, twice)| {
            let again = if twice { format!(r#","k":{c}"#) } else { format!(r#","a":{c}"#) };
            format!(r#"{{"k":{k},"a":{a}{}}}"#, if k.len() % 2 == 0 { again } else { String::new() })
        });
    let outcome = tokio::task::block_in_place(|| {
        let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
        TestRunner::new(config).run(&(contexts, 0..all.len()), |(context, at)| {
            let (parts, template) = &all[at];
            let [sql, rust] = here.block_on(both(&pool, parts, template, &context));
            prop_assert_eq!(sql, rust, "{} by {}", context, template);
            Ok(())
        })
    });
    outcome.unwrap();
}
