//! Rules of JSON Schema as conditions.

use crate::model::{Check, REGEX, SELF, Ty};
use fancy_regex::Regex;
use kcl_data::{Data, Layout, Node, Source, string_text};

/// The rules that a schema has for the value of an attribute.
pub(crate) fn checks(attribute: &str, node: &Node, ty: &Ty, is_optional: bool) -> Vec<Check> {
    let found = conditions(node, ty, SELF, 0);
    let check = |(condition, message): (String, String)| Check {
        attribute: attribute.to_owned(),
        condition,
        is_optional,
        message: format!("{attribute} {message}"),
    };
    found.into_iter().map(check).collect()
}

/// Conditions on a value, with what to say if they do not hold.
fn conditions(node: &Node, ty: &Ty, value: &str, depth: usize) -> Vec<(String, String)> {
    let mut out = Vec::new();
    match ty {
        Ty::Str => strings(node, value, &mut out),
        Ty::Int | Ty::Float => numbers(node, *ty == Ty::Int, value, &mut out),
        Ty::List(item) => {
            sizes(node, ("minItems", "maxItems"), "items", value, &mut out);
            if node.is_true("uniqueItems") && matches!(**item, Ty::Str | Ty::Int | Ty::Bool) {
                out.push((format!("isunique({value})"), "must not have equal items".into()));
            }
            if let (Some(inner), true) = (node.get("items"), depth < 3) {
                each(&conditions(inner, item, "item", depth + 1), "item", value, &mut out);
            }
        }
        Ty::Dict(inner_ty) => {
            sizes(node, ("minProperties", "maxProperties"), "entries", value, &mut out);
            if let (Some(inner), true) = (node.get("additionalProperties"), depth < 3) {
                let found = conditions(inner, inner_ty, "entry", depth + 1);
                each(&found, "_, entry", value, &mut out);
            }
        }
        _ => {}
    }
    out
}

/// Makes conditions on items one on the list.
fn each(found: &[(String, String)], vars: &str, value: &str, out: &mut Vec<(String, String)>) {
    for (condition, message) in found {
        out.push((format!("all {vars} in {value} {{ {condition} }}"), format!("items {message}")));
    }
}

fn strings(node: &Node, value: &str, out: &mut Vec<(String, String)>) {
    sizes(node, ("minLength", "maxLength"), "characters", value, out);
    if let Some(pattern) = node.str_of("pattern") {
        // A pattern that can't be used would fail for every value.
        if Regex::new(pattern).is_ok() {
            let condition = format!("{REGEX}.match({value}, {})", string_text(pattern));
            out.push((condition, format!("must match {pattern}")));
        }
    }
}

fn sizes(
    node: &Node,
    (min, max): (&str, &str),
    what: &str,
    value: &str,
    out: &mut Vec<(String, String)>,
) {
    if let Some(Data::Int(n @ 1..)) = node.get(min).map(|it| &it.data) {
        out.push((format!("len({value}) >= {n}"), format!("must have at least {n} {what}")));
    }
    if let Some(Data::Int(n @ 0..)) = node.get(max).map(|it| &it.data) {
        out.push((format!("len({value}) <= {n}"), format!("must have at most {n} {what}")));
    }
}

fn numbers(node: &Node, is_int: bool, value: &str, out: &mut Vec<(String, String)>) {
    for (key, exclusive, operator, exclusive_operator, words) in [
        ("minimum", "exclusiveMinimum", ">=", ">", "at least"),
        ("maximum", "exclusiveMaximum", "<=", "<", "at most"),
    ] {
        let is_exclusive = node.is_true(exclusive);
        if let Some(limit) = node.get(key).and_then(number_text) {
            let operator = if is_exclusive { exclusive_operator } else { operator };
            out.push((format!("{value} {operator} {limit}"), format!("must be {words} {limit}")));
        }
        if let Some(limit) = node.get(exclusive).and_then(number_text) {
            let condition = format!("{value} {exclusive_operator} {limit}");
            out.push((condition, format!("must be {exclusive_operator} {limit}")));
        }
    }
    if let (true, Some(Data::Int(n @ 2..))) = (is_int, node.get("multipleOf").map(|it| &it.data)) {
        out.push((format!("multiplyof({value}, {n})"), format!("must be a multiple of {n}")));
    }
}

fn number_text(node: &Node) -> Option<String> {
    matches!(node.data, Data::Int(_) | Data::Float(_)).then(|| literal(node)).flatten()
}

/// A value as source on one line; `None` if there is no such literal.
pub(crate) fn literal(node: &Node) -> Option<String> {
    match &node.data {
        Data::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(literal).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Data::Dict(entries) => {
            let entries: Option<Vec<String>> = entries
                .iter()
                .map(|entry| {
                    Some(format!("{} = {}", kcl_data::key_text(&entry.key), literal(&entry.value)?))
                })
                .collect();
            Some(format!("{{{}}}", entries?.join(", ")))
        }
        _ => {
            let mut source = Source::new(Layout::Pretty);
            source.value(node, None, 0).ok()?;
            Some(source.finish().0)
        }
    }
}

/// Whether a default is a value of a type, as far as it can be told here.
pub(crate) fn fits(node: &Node, ty: &Ty) -> bool {
    match (ty, &node.data) {
        (Ty::Any, data) => *data != Data::Null,
        (Ty::Bool, Data::Bool(_))
        | (Ty::Int, Data::Int(_))
        | (Ty::Float, Data::Int(_) | Data::Float(_))
        | (Ty::Str, Data::Str(_)) => true,
        (Ty::Lit(text), Data::Str(_) | Data::Int(_) | Data::Bool(_) | Data::Float(_)) => {
            literal(node).as_ref() == Some(text)
        }
        (Ty::List(item), Data::List(items)) => items.iter().all(|it| fits(it, item)),
        (Ty::Dict(value), Data::Dict(entries)) => entries.iter().all(|it| fits(&it.value, value)),
        (Ty::Union(types), _) => types.iter().any(|ty| fits(node, ty)),
        _ => false,
    }
}
