use fairgate_core::template::Part;
use fairgate_core::{IdError, KeyError, Template, TemplateError};
use proptest::prelude::*;

use crate::support::context;

fn render(template: &str, json: &str) -> Result<String, KeyError> {
    let template = Template::parse(template).unwrap();
    let key = template.render(&context(json))?;
    Ok(key.to_string())
}

fn of_number(literal: &str) -> Result<String, KeyError> {
    render("k", &format!(r#"{{"k":{literal}}}"#))
}

#[test]
fn a_number_becomes_the_text_that_jsonb_would_store() {
    for (literal, text) in [
        ("1", "1"),
        ("0", "0"),
        ("-0", "0"),
        ("-0e3", "0"),
        ("1e2", "100"),
        ("1E2", "100"),
        ("1e+2", "100"),
        ("1e00002", "100"),
        ("1.0e1", "10"),
        ("1.5e1", "15"),
        ("-1.5e1", "-15"),
        ("0.001e3", "1"),
        ("0e100000", "0"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("0.9223372036854775807e19", "9223372036854775807"),
    ] {
        assert_eq!(of_number(literal).as_deref(), Ok(text), "{literal}");
    }
}

#[test]
fn a_number_that_jsonb_prints_with_a_fraction_or_beyond_64_bits_is_refused() {
    for literal in [
        "1.0",
        "0.0",
        "-0.0",
        "10.0e0",
        "1.50e1",
        "100e-2",
        "0e-1",
        "1.5",
        "1e400",
        "1e19",
        "9223372036854775808",
        "-9223372036854775809",
        "1e999999999999999999999999",
        "0e1073741823",
        "1e-999999999999999999999999",
        "1e-1",
    ] {
        let error = of_number(literal).unwrap_err();
        assert!(matches!(error, KeyError::NotAnInteger { .. }), "{literal}");
    }
    assert_eq!(
        of_number("1.0").unwrap_err().to_string(),
        "`k` in the context is the number 1.0, which is not a 64-bit integer; write it as a string or an integer"
    );
}

#[test]
fn a_number_and_the_same_text_are_one_key() {
    assert_eq!(of_number("1"), of_number("\"1\""));
    assert_eq!(of_number("true"), of_number("\"true\""));
}

#[test]
fn absent_empty_and_null_are_never_confused() {
    assert!(matches!(render("k", "{}"), Err(KeyError::Missing { .. })));
    assert!(matches!(of_number("null"), Err(KeyError::NotAKey { .. })));
    let empty = of_number("\"\"");
    assert!(matches!(empty, Err(KeyError::Invalid(IdError::Empty { .. }))));
    assert_eq!(of_number("\"null\"").as_deref(), Ok("null"));
    assert_eq!(of_number("\" \"").as_deref(), Ok(" "));
}

#[test]
fn objects_arrays_and_keys_that_are_too_long_are_refused() {
    assert!(matches!(of_number("{}"), Err(KeyError::NotAKey { .. })));
    assert!(matches!(of_number("[1]"), Err(KeyError::NotAKey { .. })));
    let long = format!("\"{}\"", "x".repeat(10_001));
    let too_long = of_number(&long);
    assert!(matches!(too_long, Err(KeyError::Invalid(IdError::TooLong { .. }))));
}

#[test]
fn holes_literals_and_doubled_braces_make_a_template() {
    let json = r#"{"account":{"id":7},"region":"eu","live":true}"#;
    assert_eq!(render("account.id", json).unwrap(), "7");
    assert_eq!(render("{account.id}", json).unwrap(), "7");
    assert_eq!(render("acct:{account.id}:{region}", json).unwrap(), "acct:7:eu");
    assert_eq!(render("{{{region}}}-é{live}", json).unwrap(), "{eu}-étrue");
    assert_eq!(render("{{all}}", json).unwrap(), "{all}");
    let parts = Template::parse("a{b.c}").unwrap();
    let expected = [Part::Literal("a".to_owned()), Part::Path("b.c".parse().unwrap())];
    assert_eq!(parts.parts(), expected);
    assert_eq!(parts.to_string(), "a{b.c}");
}

#[test]
fn a_missing_value_in_a_hole_names_its_path() {
    let error = render("acct:{account.id}", r#"{"account":3}"#).unwrap_err();
    assert!(error.to_string().contains("`account.id`"), "{error}");
}

#[test]
fn a_broken_template_says_where() {
    assert_eq!(Template::parse(""), Err(TemplateError::Empty));
    assert!(matches!(Template::parse("a{b"), Err(TemplateError::Unclosed { at: 1, .. })));
    assert!(matches!(Template::parse("a}b"), Err(TemplateError::Stray { at: 1, .. })));
    assert!(matches!(Template::parse("{a{b}"), Err(TemplateError::Stray { at: 2, .. })));
    assert!(matches!(Template::parse("{}"), Err(TemplateError::Path(_))));
    assert!(matches!(Template::parse("a..b"), Err(TemplateError::Path(_))));
    assert!(matches!(Template::parse("a\0b"), Err(TemplateError::Nul { .. })));
    assert_eq!(
        Template::parse("a{b").unwrap_err().to_string(),
        "\"a{b\" has a `{` at byte 1 that is never closed; write `{{` for a brace itself"
    );
    assert!(serde_json::from_str::<Template>("\"a{\"").is_err());
}

proptest! {
    #[test]
    fn every_64_bit_integer_is_its_own_text(number: i64) {
        prop_assert_eq!(of_number(&number.to_string()).unwrap(), number.to_string());
    }

    #[test]
    fn moving_the_point_by_the_exponent_changes_nothing(number in -1_000_000_i64..1_000_000, decimals in 0_usize..6) {
        let sign = if number < 0 { "-" } else { "" };
        let digits = format!("{:0>width$}", number.unsigned_abs(), width = decimals + 1);
        let (whole, fraction) = digits.split_at(digits.len() - decimals);
        let point = if decimals > 0 { "." } else { "" };
        let literal = format!("{sign}{whole}{point}{fraction}e{decimals}");
        prop_assert_eq!(of_number(&literal).unwrap(), number.to_string(), "{}", literal);
    }

    #[test]
    fn no_text_breaks_the_parser(text in "[a-z.{}é]{0,12}") {
        if let Ok(template) = Template::parse(&text) {
            prop_assert_eq!(template.to_string(), text);
            prop_assert!(!template.parts().is_empty());
        }
    }
}
