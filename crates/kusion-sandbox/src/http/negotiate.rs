//! Which form an answer takes.

use super::query::Query;
use hyper::HeaderMap;
use hyper::header::{ACCEPT, USER_AGENT};

/// The text format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// `application/json`.
    Json,
    /// `application/yaml`.
    Yaml,
}

/// The shape in which objects are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As they are.
    Object,
    /// As rows, in a version of `meta.k8s.io`.
    Table(String),
    /// Only their metadata, in a version of `meta.k8s.io`.
    Metadata(String),
    /// Aggregated discovery, in a version of `apidiscovery.k8s.io`.
    Discovery(String),
}

/// The form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) format: Format,
    pub(crate) shape: Shape,
    /// Whether JSON is indented.
    pub(crate) pretty: bool,
    /// What a row of a table carries beside its cells.
    pub(crate) rows: Rows,
}

/// What a row of a table carries beside its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Rows {
    /// The metadata of its object.
    #[default]
    Metadata,
    /// The whole object.
    Object,
    /// Nothing.
    Nothing,
}

impl Form {
    /// Plain JSON.
    pub(crate) fn json() -> Self {
        Self { format: Format::Json, shape: Shape::Object, pretty: false, rows: Rows::default() }
    }
}

/// Picks the form that the client likes best; none when it likes nothing that is served.
pub(crate) fn negotiate(headers: &HeaderMap, query: &Query, discovery: bool) -> Option<Form> {
    let accept: Vec<&str> =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let accept = accept.join(",");
    let pretty = is_pretty(headers, query);
    if accept.trim().is_empty() {
        return Some(Form { pretty, ..Form::json() });
    }
    let mut clauses: Vec<(f32, &str)> = accept
        .split(',')
        .map(str::trim)
        .filter(|clause| !clause.is_empty())
        .map(|clause| (quality(clause), clause))
        .collect();
    clauses.sort_by(|a, b| b.0.total_cmp(&a.0));
    clauses.iter().find_map(|(_, clause)| form(clause, discovery)).map(|form| Form {
        pretty,
        rows: rows(query),
        ..form
    })
}

fn quality(clause: &str) -> f32 {
    clause
        .split(';')
        .find_map(|part| part.trim().strip_prefix("q="))
        .and_then(|text| text.parse().ok())
        .unwrap_or(1.0)
}

fn form(clause: &str, discovery: bool) -> Option<Form> {
    let mut parts = clause.split(';').map(str::trim);
    let format = match parts.next()? {
        "application/json" | "*/*" => Format::Json,
        "application/yaml" => Format::Yaml,
        _ => return None,
    };
    let (mut kind, mut group, mut version) = ("", "", "");
    for part in parts {
        match part.split_once('=') {
            Some(("as", value)) => kind = value,
            Some(("g", value)) => group = value,
            Some(("v", value)) => version = value,
            _ => {}
        }
    }
    let shape = match (kind, group) {
        ("", _) => Shape::Object,
        ("Table", "meta.k8s.io") if matches!(version, "v1" | "v1beta1") && !discovery => {
            Shape::Table(version.to_owned())
        }
        ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io")
            if matches!(version, "v1" | "v1beta1") && !discovery =>
        {
            Shape::Metadata(version.to_owned())
        }
        ("APIGroupDiscoveryList", "apidiscovery.k8s.io")
            if matches!(version, "v2" | "v2beta1") && discovery =>
        {
            Shape::Discovery(version.to_owned())
        }
        _ => return None,
    };
    Some(Form { format, shape, pretty: false, rows: Rows::default() })
}

fn rows(query: &Query) -> Rows {
    match query.get("includeObject") {
        "Object" => Rows::Object,
        "None" => Rows::Nothing,
        _ => Rows::Metadata,
    }
}

fn is_pretty(headers: &HeaderMap, query: &Query) -> bool {
    if query.has("pretty") {
        return query.flag("pretty");
    }
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"].iter().any(|known| agent.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(accept: &str) -> Option<Shape> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().expect("header"));
        negotiate(&headers, &Query::default(), false).map(|form| form.shape)
    }

    #[test]
    fn the_first_served_clause_wins() {
        assert_eq!(
            pick("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
            Some(Shape::Table("v1".to_owned()))
        );
        assert_eq!(pick("application/vnd.kubernetes.protobuf, */*"), Some(Shape::Object));
        assert_eq!(pick("application/vnd.kubernetes.protobuf"), None);
        assert_eq!(
            pick("application/json;as=Foo;v=v1;g=meta.k8s.io,application/json"),
            Some(Shape::Object)
        );
    }
}
