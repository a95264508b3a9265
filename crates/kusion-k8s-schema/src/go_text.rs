//! Pod templates as the text that Go programs print of them.
//!
//! The real controllers name a template by a hash of this text: `pod-template-hash`, and the revisions
//! of `DaemonSets`. Names, order and types of fields come from a compressed table in `data/`, made by
//! `cargo xtask k8s-layout` from the published Go types.

mod quantity;

use crate::builtin::decompress;
use quantity::{Amount, GoQuantity};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// The types, compressed.
const FILE: &[u8] = include_bytes!("../data/k8s-v1.36.layout.zst");
const TEMPLATE: &str = "v1.PodTemplateSpec";
const NIL: &str = "<nil>";

/// What a named type is.
#[derive(Debug)]
enum Layout {
    Struct(Vec<Field>),
    /// Another type.
    As(Box<str>),
}

#[derive(Debug)]
struct Field {
    /// The key in JSON; `None` if the fields of this one are in the object around it.
    key: Option<Box<str>>,
    name: Box<str>,
    ty: Box<str>,
}

static LAYOUTS: LazyLock<BTreeMap<Box<str>, Layout>> = LazyLock::new(|| {
    let bytes = decompress(FILE).expect("the committed table is whole: a test reads it");
    read(&String::from_utf8_lossy(&bytes))
});

fn read(text: &str) -> BTreeMap<Box<str>, Layout> {
    let mut layouts: BTreeMap<Box<str>, Layout> = BTreeMap::new();
    let mut current = "";
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["", key, name, ty] => {
                let key = (key != "-").then(|| key.into());
                let field = Field { key, name: name.into(), ty: ty.into() };
                if let Some(Layout::Struct(fields)) = layouts.get_mut(current) {
                    fields.push(field);
                }
            }
            [name, ty] => {
                layouts.insert(name.into(), Layout::As(ty.into()));
            }
            _ => {
                current = line;
                layouts.insert(line.into(), Layout::Struct(Vec::new()));
            }
        }
    }
    layouts
}

/// Returns the text of a stored pod template.
pub fn go_text_of_template(template: &Value) -> String {
    let mut text = String::with_capacity(8 * 1024);
    typed(&mut text, TEMPLATE, Some(template));
    text
}

/// Writes the type of a value, and the value.
fn typed(text: &mut String, ty: &str, value: Option<&Value>) {
    text.push('(');
    text.push_str(ty);
    text.push(')');
    let value = value.filter(|it| !it.is_null());
    match (ty.strip_prefix('*'), value) {
        (Some(_), None) => text.push_str(NIL),
        (Some(to), value) => plain(text, to, value),
        (None, value) => plain(text, ty, value),
    }
}

/// Writes a value without its type.
fn plain(text: &mut String, ty: &str, value: Option<&Value>) {
    if let Some(item) = ty.strip_prefix("[]") {
        return list(text, item, value);
    }
    if let Some((_, item)) = ty.strip_prefix("map[").and_then(|it| it.split_once(']')) {
        return map(text, item, value);
    }
    match ty {
        "string" => text.push_str(value.and_then(Value::as_str).unwrap_or_default()),
        "bool" => text.push_str(if value == Some(&Value::Bool(true)) { "true" } else { "false" }),
        "int32" | "int64" => number(text, value.and_then(Value::as_i64).unwrap_or_default()),
        "v1.Time" => {
            text.push_str(
                "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}",
            );
        }
        "intstr.IntOrString" => int_or_string(text, value),
        "resource.Quantity" => quantity(text, value),
        _ => match LAYOUTS.get(ty) {
            Some(Layout::As(ty)) => plain(text, ty, value),
            Some(Layout::Struct(fields)) => object(text, fields, value),
            None => text.push_str(NIL),
        },
    }
}

fn object(text: &mut String, fields: &[Field], value: Option<&Value>) {
    text.push('{');
    for (idx, field) in fields.iter().enumerate() {
        if idx > 0 {
            text.push(' ');
        }
        text.push_str(&field.name);
        text.push(':');
        let inner = match &field.key {
            Some(key) => value.and_then(|it| it.get(&**key)),
            None => value,
        };
        typed(text, &field.ty, inner);
    }
    text.push('}');
}

/// An empty list is none: controllers read objects in a form that does not tell them apart.
fn list(text: &mut String, item: &str, value: Option<&Value>) {
    let Some(items) = value.and_then(Value::as_array).filter(|it| !it.is_empty()) else {
        return text.push_str(NIL);
    };
    text.push('[');
    for (idx, value) in items.iter().enumerate() {
        if idx > 0 {
            text.push(' ');
        }
        plain(text, item, Some(value));
    }
    text.push(']');
}

fn map(text: &mut String, item: &str, value: Option<&Value>) {
    let Some(entries) = value.and_then(Value::as_object).filter(|it| !it.is_empty()) else {
        return text.push_str(NIL);
    };
    let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    text.push_str("map[");
    for (idx, (key, value)) in entries.into_iter().enumerate() {
        if idx > 0 {
            text.push(' ');
        }
        text.push_str(key);
        text.push(':');
        plain(text, item, Some(value));
    }
    text.push(']');
}

fn number(text: &mut String, number: i64) {
    // Writing to a string does not fail.
    let _ = write!(text, "{number}");
}

fn int_or_string(text: &mut String, value: Option<&Value>) {
    let word = value.and_then(Value::as_str);
    let kind = i32::from(word.is_some());
    let number = value.and_then(Value::as_i64).unwrap_or_default();
    let word = word.unwrap_or_default();
    let _ =
        write!(text, "{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){word}}}");
}

fn quantity(text: &mut String, value: Option<&Value>) {
    let parsed = value.and_then(Value::as_str).and_then(GoQuantity::parse).unwrap_or_default();
    let (value, scale) = match parsed.amount {
        Amount::Small { value, scale } => (value, scale),
        Amount::Large { .. } => (0, 0),
    };
    let _ = write!(
        text,
        "{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} \
         d:(resource.infDecAmount){{Dec:(*inf.Dec)"
    );
    let _ = match parsed.amount {
        Amount::Small { .. } => write!(text, "{NIL}"),
        Amount::Large { negative, words: [low, high], scale } => {
            let high = if high == 0 { String::new() } else { format!(" {high}") };
            write!(
                text,
                "{{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat)[{low}{high}]}} \
                 scale:(inf.Scale){scale}}}"
            )
        }
    };
    let (kept, format) = (parsed.kept, parsed.format);
    let _ = write!(text, "}} s:(string){kept} Format:(resource.Format){format}}}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_types_of_templates_are_known() {
        let known = |ty: &str| {
            let ty = ty.trim_start_matches(['*', '[', ']']);
            let ty = ty.split_once(']').map_or(ty, |(_, item)| item);
            let special = ["v1.Time", "intstr.IntOrString", "resource.Quantity"];
            let plain = ["string", "bool", "int32", "int64", "v1.ManagedFieldsEntry"];
            special.contains(&ty) || plain.contains(&ty) || LAYOUTS.contains_key(ty)
        };
        let mut n_fields = 0;
        for layout in LAYOUTS.values() {
            match layout {
                Layout::As(ty) => assert!(known(ty), "{ty}"),
                Layout::Struct(fields) => {
                    n_fields += fields.len();
                    for field in fields {
                        assert!(known(&field.ty), "{}", field.ty);
                    }
                }
            }
        }
        assert!(n_fields > 400, "{n_fields}");
    }

    #[test]
    fn fields_have_the_order_and_types_of_go() {
        let text = go_text_of_template(&json!({
            "metadata": {"labels": {"b": "2", "a": "1"}},
            "spec": {"hostNetwork": true, "priority": 5, "tolerations": []},
        }));
        for part in [
            "(v1.PodTemplateSpec){ObjectMeta:(v1.ObjectMeta){Name:(string) GenerateName:",
            " Labels:(map[string]string)map[a:1 b:2] Annotations:(map[string]string)<nil> ",
            " HostNetwork:(bool)true HostPID:(bool)false ",
            " Tolerations:([]v1.Toleration)<nil> ",
            " Priority:(*int32)5 DNSConfig:(*v1.PodDNSConfig)<nil> ",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
