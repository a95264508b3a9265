//! Data as a program that gives this data.

use crate::ImportError;
use kcl_data::{Data, Entry, Format, Layout, Node, Source, name_text, read};

/// Turns a document into source whose output is that document: its keys become names at the top
/// level. A key that is no name can't stand there; then the whole document is written as one
/// stream.
///
/// # Errors
///
/// If the text is not valid, has several documents, is no dict, or has keys or numbers without a
/// form in KCL.
pub fn data(text: &str, format: Format) -> Result<String, ImportError> {
    if text.trim().is_empty() {
        return Err(ImportError::Whole("source is empty".into()));
    }
    let documents = read(text, format).map_err(ImportError::Data)?;
    let root = match documents.as_slice() {
        [root] => root,
        [] => return Err(not_dict(text, None)),
        [_, second, ..] => {
            let message = "a second document: import each document from a file of its own";
            return Err(ImportError::at(text, second.span, message));
        }
    };
    let Data::Dict(entries) = &root.data else { return Err(not_dict(text, Some(root))) };
    check_keys(text, root)?;
    if let Some((key, span)) = root.double_key() {
        return Err(ImportError::at(text, span, format!("the key `{key}` is there twice")));
    }
    let names: Option<Vec<String>> = entries.iter().map(|entry| name_text(&entry.key)).collect();
    let mut source = Source::new(Layout::Pretty);
    let fail = |(span, message)| ImportError::at(text, span, message);
    match names {
        Some(names) => {
            for (name, entry) in names.iter().zip(entries) {
                source.push(name);
                source.push(" = ");
                source.value(&entry.value, None, 0).map_err(fail)?;
                source.push("\n");
            }
        }
        None => {
            source.push("import manifests\n\nmanifests.yaml_stream([\n    ");
            source.value(root, None, 1).map_err(fail)?;
            source.push("\n])\n");
        }
    }
    Ok(source.finish().0)
}

fn not_dict(text: &str, root: Option<&Node>) -> ImportError {
    let found = root.map_or("nothing", |root| root.data.kind());
    let message = format!(
        "the data root must be an object (mapping) so it can become top-level KCL attributes, \
         found {found}"
    );
    ImportError::at(text, root.map(|root| root.span).unwrap_or_default(), message)
}

/// Refuses keys that are no strings.
fn check_keys(text: &str, node: &Node) -> Result<(), ImportError> {
    for Entry { key, key_span, is_text, value } in node.entries() {
        if !is_text {
            let message = format!("keys must be strings: write \"{key}\"");
            return Err(ImportError::at(text, *key_span, message));
        }
        check_keys(text, value)?;
    }
    node.items().iter().try_for_each(|item| check_keys(text, item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_names() {
        let text = "{\"a\": {\"b\": [1, [2, 3], {\"c\": \"d\"}]}, \"if\": true, \"e\": []}";
        let wanted = "a = {\n    b = [\n        1,\n        [2, 3],\n        {\n            c = \
                      \"d\"\n        },\n    ]\n}\n$if = True\ne = []\n";
        assert_eq!(data(text, Format::Json).as_deref(), Ok(wanted));
    }

    #[test]
    fn other_keys_need_a_stream() {
        let wanted =
            "import manifests\n\nmanifests.yaml_stream([\n    {\n        \"a-b\" = 1\n    }\n])\n";
        assert_eq!(data("a-b: 1\n", Format::Yaml).as_deref(), Ok(wanted));
    }

    #[test]
    fn what_is_refused() {
        let message = |text: &str, format| data(text, format).map_err(|error| error.to_string());
        let is_refused = |text: &str, part: &str| {
            let found = message(text, Format::Yaml);
            assert!(found.as_ref().is_err_and(|it| it.contains(part)), "{text}: {found:?}");
        };
        is_refused("[1]", "line 1, column 1: the data root must be an object (mapping)");
        is_refused("a: 1\n---\nb: 2\n", "line 3, column 2: a second document");
        is_refused("1: a\n", "keys must be strings: write \"1\"");
        is_refused("a: 1\na: 2\n", "line 2, column 1: the key `a` is there twice");
        is_refused("a: .inf\n", "the number inf has no literal in KCL");
        is_refused("a: 12345678901234567890\n", "does not fit 64 bits");
        is_refused("", "source is empty");
    }
}
