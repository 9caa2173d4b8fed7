use fairgate_core::param::Computed;
use fairgate_core::{BadParam, Param, Path};

use crate::support::context;

fn path() -> Path {
    "a.b".parse().unwrap()
}

fn from(json: &str, default: Option<f64>) -> Result<f64, BadParam> {
    let path = path();
    Param::From { path, default }.resolve(&context(json))
}

#[test]
fn a_number_is_read_from_the_context() {
    assert_eq!(from(r#"{"a":{"b":2.5}}"#, None), Ok(2.5));
    assert_eq!(from(r#"{"a":{"b":1e2}}"#, Some(7.0)), Ok(100.0));
    assert_eq!(from(r#"{"a":{"b":-0}}"#, None), Ok(-0.0));
}

#[test]
fn the_default_stands_for_absent_and_null_only() {
    assert_eq!(from("{}", Some(7.0)), Ok(7.0));
    assert_eq!(from(r#"{"a":{"b":null}}"#, Some(7.0)), Ok(7.0));
    assert_eq!(from("{}", None), Err(BadParam::Missing { path: path() }));
    let null = from(r#"{"a":{"b":null}}"#, None);
    assert_eq!(null, Err(BadParam::Missing { path: path() }));
}

#[test]
fn what_is_not_a_usable_number_is_refused_whatever_the_default() {
    for not_a_number in [r#""5""#, "true", "[]", "{}", r#""""#] {
        let json = format!(r#"{{"a":{{"b":{not_a_number}}}}}"#);
        assert_eq!(from(&json, Some(7.0)), Err(BadParam::NotANumber { path: path() }));
    }
    assert_eq!(from(r#"{"a":{"b":-1}}"#, Some(7.0)), Err(BadParam::Negative));
    assert_eq!(from(r#"{"a":{"b":1e400}}"#, Some(7.0)), Err(BadParam::NotFinite));
    assert_eq!(from(r#"{"a":{"b":-1e400}}"#, Some(7.0)), Err(BadParam::NotFinite));
}

#[test]
fn a_closure_may_return_or_do_anything() {
    let computed = |number: f64| {
        let computed = Param::Computed(Computed::new(move |_| number));
        computed.resolve(&context("{}"))
    };
    assert_eq!(computed(3.0), Ok(3.0));
    assert_eq!(computed(f64::NAN), Err(BadParam::NotFinite));
    assert_eq!(computed(f64::INFINITY), Err(BadParam::NotFinite));
    assert_eq!(computed(-0.1), Err(BadParam::Negative));
    let panics = Param::Computed(Computed::new(|_| panic!("from the closure under test")));
    assert_eq!(panics.resolve(&context("{}")), Err(BadParam::Panicked));
    let missing = Param::Computed(Computed::missing());
    assert_eq!(missing.resolve(&context("{}")), Err(BadParam::NoClosure));
    assert_eq!(format!("{missing:?}"), "Computed(computed)");
}
