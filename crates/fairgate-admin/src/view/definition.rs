//! A policy's rules as they were declared.

use fairgate_core::definition::{Definition, GateDefinition, GateKind, KeySource, ParamDefinition};
use fairgate_core::duration::format_duration;
use maud::{Markup, html};

/// What makes a partition.
pub(crate) fn partition_by(definition: &Definition) -> String {
    match &definition.partition_by {
        KeySource::Template(template) => template.to_string(),
        KeySource::Computed => "computed by a program".to_owned(),
    }
}

/// One line for each gate.
pub(crate) fn gates(definition: &Definition) -> Markup {
    html! {
        @if definition.gates.is_empty() {
            span.quiet { "no gates" }
        } @else {
            ul.plain { @for gate in &definition.gates { li { (words(gate)) } } }
        }
    }
}

fn words(gate: &GateDefinition) -> Markup {
    let what = match &gate.kind {
        GateKind::Throttle { rate, per, burst } => {
            let burst = burst.as_ref().map(|burst| format!(", burst {}", param(burst))).unwrap_or_default();
            format!("{} per {}{burst}", param(rate), format_duration(*per))
        }
        GateKind::Concurrency { max, .. } => format!("{} in flight", param(max)),
        GateKind::Adaptive(_) => "as many in flight as start promptly".to_owned(),
    };
    let scope = gate.scope.to_string();
    html! {
        strong { (gate.name) } ": " (what)
        @if scope != "partition" { span.quiet { " for each " (scope) } }
        @if gate.shadow { span.quiet { " (shadow)" } }
    }
}

/// `5`, or `max_per_account, else 5`.
fn param(param: &ParamDefinition) -> String {
    let json = serde_json::to_value(param).unwrap_or_default();
    match (json.get("from").and_then(|from| from.as_str()), json.get("default")) {
        (Some(from), Some(default)) => format!("{from} (else {})", plain(default)),
        (Some(from), None) => from.to_owned(),
        _ if json.is_number() => plain(&json),
        _ => "computed".to_owned(),
    }
}

/// `5` for 5.0.
fn plain(number: &serde_json::Value) -> String {
    number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
}

/// How its partitions share.
pub(crate) fn fairness(definition: &Definition) -> String {
    let json = serde_json::to_value(&definition.fairness).unwrap_or_default();
    match &json {
        serde_json::Value::String(mode) => mode.clone(),
        other => other.get("mode").and_then(|mode| mode.as_str()).unwrap_or("recent").to_owned(),
    }
}
