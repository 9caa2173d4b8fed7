use fairgate_core::{Context, ContextError, Leaf, Path};

use crate::support::context;

fn get(json: &str, path: &str) -> Leaf {
    context(json).get(&path.parse().unwrap())
}

#[test]
fn a_number_keeps_the_text_of_its_literal() {
    for literal in ["1e2", "100.0", "1e400", "-0", "9007199254740993", "1E+2"] {
        let json = format!(r#"{{"a": {{"b": {literal} }} }}"#);
        assert_eq!(get(&json, "a.b"), Leaf::Number(literal.to_owned()));
    }
}

#[test]
fn every_kind_of_value_is_told_apart() {
    let json = r#"{"n":null,"t":true,"s":"null","e":"","o":{},"l":[1],"u":"\u00e9\"\ud83d\ude00"}"#;
    assert_eq!(get(json, "n"), Leaf::Null);
    assert_eq!(get(json, "t"), Leaf::Bool(true));
    assert_eq!(get(json, "s"), Leaf::Text("null".to_owned()));
    assert_eq!(get(json, "e"), Leaf::Text(String::new()));
    assert_eq!(get(json, "o"), Leaf::Composite);
    assert_eq!(get(json, "l"), Leaf::Composite);
    assert_eq!(get(json, "u"), Leaf::Text("é\"😀".to_owned()));
    assert_eq!(get(json, "absent"), Leaf::Missing);
}

#[test]
fn a_path_leads_through_objects_only() {
    let json = r#"{"list":[{"a":1}],"text":"x","a.b":1}"#;
    for path in ["list.a", "list.0", "text.a", "a.b"] {
        assert_eq!(get(json, path), Leaf::Missing, "{path}");
    }
}

#[test]
fn of_a_key_that_comes_twice_the_last_counts() {
    assert_eq!(
        get(r#"{"a":{"b":1},"a":{"c":2}}"#, "a.b"),
        Leaf::Missing,
        "as in jsonb, the first object is gone"
    );
    assert_eq!(
        get(r#"{"a":1,"\u0061":2}"#, "a"),
        Leaf::Number("2".to_owned()),
        "an escaped key is the same key"
    );
}

#[test]
fn the_text_stays_as_it_was_written() {
    let json = r#"{"z":1,  "a": 1e400}"#;
    assert_eq!(context(json).as_json(), json);
    assert_eq!(context(&format!("  {json}\n")).as_json(), json);
    let again: Context = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
}

#[test]
fn only_an_object_is_a_context() {
    for (json, found) in [("[]", "an array"), ("1", "a number"), ("null", "null")] {
        let error = Context::parse(json).unwrap_err();
        assert!(matches!(&error, ContextError::NotAnObject { found: f } if *f == found), "{error}");
    }
    assert!(matches!(Context::parse("{"), Err(ContextError::NotJson(_))));
    assert!(matches!(Context::from_serialize(&7), Err(ContextError::NotAnObject { .. })));
    let made = Context::from_serialize(&serde_json::json!({"a": 1})).unwrap();
    assert_eq!(made.as_json(), r#"{"a":1}"#);
    assert_eq!(Context::empty().as_json(), "{}");
}

#[test]
fn what_jsonb_cannot_store_is_refused_at_once() {
    for json in [
        r#"{"a":"x\u0000"}"#,
        r#"{"\u0000":1}"#,
        r#"{"a":"\ud83d"}"#,
        r#"{"a":"\ude00\ud83d"}"#,
        r#"{"a":"\ud83dx\ude00"}"#,
    ] {
        let error = Context::parse(json).unwrap_err();
        assert!(matches!(error, ContextError::NotStorable { .. }), "{json}");
    }
    for json in [r#"{"a":"\\u0000"}"#, r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\\\\ud83d"}"#] {
        assert!(Context::parse(json).is_ok(), "{json}");
    }
}

#[test]
fn a_path_has_no_empty_segment() {
    for bad in ["", ".", "a.", ".a", "a..b"] {
        assert!(bad.parse::<Path>().is_err(), "{bad:?}");
    }
    let path: Path = "account.id".parse().unwrap();
    assert_eq!(path.segments().collect::<Vec<_>>(), ["account", "id"]);
    assert_eq!(path.to_string(), "account.id");
}
