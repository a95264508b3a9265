//! JSON patch (RFC 6902), with the server's tolerance and its words.
//!
//! A place in an object that is missing and one that is `null` are the same; indexes may count
//! from the end.

use serde_json::{Map, Value};

use super::PatchError;

/// How many operations a patch may have.
const MAX_OPERATIONS: usize = 10_000;

/// How many bytes of JSON the copies of a patch may add.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// How deep the result may be nested.
const MAX_DEPTH: usize = 512;

/// Applies the operations of a patch, one after the other.
pub fn json_patch(current: &Value, patch: &Value) -> Result<Value, PatchError> {
    let Value::Array(operations) = patch else {
        return Err(PatchError::BadRequest(format!(
            "error decoding patch: json: cannot unmarshal {} into Go value of type []handlers.jsonPatchOp",
            json_kind(patch)
        )));
    };
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooLarge(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    let mut doc = current.clone();
    let mut copied = 0;
    for operation in operations {
        let Value::Object(operation) = operation else {
            return Err(PatchError::BadRequest(format!(
                "json: cannot unmarshal {} into Go value of type jsonpatch.Operation",
                json_kind(operation)
            )));
        };
        run(&mut doc, operation, &mut copied).map_err(PatchError::Unprocessable)?;
    }
    Ok(doc)
}

fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Runs one operation; `copied` is how many bytes all copies have added so far.
fn run(doc: &mut Value, operation: &Map<String, Value>, copied: &mut usize) -> Result<(), String> {
    let kind = operation.get("op").and_then(Value::as_str).unwrap_or("unknown");
    let pointer = |name: &str| {
        let text = operation.get(name).and_then(Value::as_str);
        text.ok_or_else(|| format!("{kind} operation failed to decode {name}: missing value"))
    };
    let value = || operation.get("value").cloned().unwrap_or_default();
    match kind {
        "add" => add(doc, pointer("path")?, value()),
        "remove" => remove(doc, pointer("path")?),
        "replace" => replace(doc, pointer("path")?, value()),
        "test" => test(doc, pointer("path")?, operation.get("value")),
        "move" => {
            let from = pointer("from")?;
            let taken = move_out(doc, from)?;
            let path = pointer("path")?;
            let (place, key) = find(doc, path).ok_or_else(|| {
                format!("move operation does not apply: doc is missing destination path: {path}: missing value")
            })?;
            check_depth(path, &taken)?;
            insert(place, &key, taken).map_err(|e| format!("error in move for path: '{path}': {e}"))
        }
        "copy" => copy(doc, pointer("from")?, &pointer, copied),
        other => Err(format!("Unexpected kind: {other}")),
    }
}

fn copy<'p>(
    doc: &mut Value,
    from: &str,
    pointer: &impl Fn(&str) -> Result<&'p str, String>,
    copied: &mut usize,
) -> Result<(), String> {
    let (place, key) = find(doc, from).ok_or_else(|| {
        format!("copy operation does not apply: doc is missing from path: {from}: missing value")
    })?;
    let found = get(place, &key).map_err(|e| format!("error in copy for from: '{from}': {e}"))?;
    // The size is known before the copy is made: each one can double the document.
    *copied += found.map_or(0, json_size);
    if *copied > MAX_COPIED {
        return Err(format!(
            "Unable to complete the copy, the accumulated size increase of copy is {copied}, \
             exceeding the limit {MAX_COPIED}"
        ));
    }
    let value = found.cloned().unwrap_or_default();
    let path = pointer("path")?;
    let (place, key) = find(doc, path).ok_or_else(|| {
        format!(
            "copy operation does not apply: doc is missing destination path: {path}: missing value"
        )
    })?;
    check_depth(path, &value)?;
    insert(place, &key, value).map_err(|e| format!("error while adding value during copy: {e}"))
}

/// Returns how many bytes a value takes as JSON.
fn json_size(value: &Value) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

fn add(doc: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (place, key) = find(doc, path).ok_or_else(|| {
        format!("add operation does not apply: doc is missing path: \"{path}\": missing value")
    })?;
    check_depth(path, &value)?;
    insert(place, &key, value).map_err(|e| format!("error in add for path: '{path}': {e}"))
}

fn remove(doc: &mut Value, path: &str) -> Result<(), String> {
    let (place, key) = find(doc, path).ok_or_else(|| {
        format!("remove operation does not apply: doc is missing path: \"{path}\": missing value")
    })?;
    take(place, &key).map(drop).map_err(|e| format!("error in remove for path: '{path}': {e}"))
}

fn replace(doc: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err("replace operation value must be object or array: %!w(<nil>)".to_owned());
        }
        *doc = value;
        return Ok(());
    }
    let (place, key) = find(doc, path).ok_or_else(|| {
        format!("replace operation does not apply: doc is missing path: {path}: missing value")
    })?;
    check_depth(path, &value)?;
    let missing =
        || format!("replace operation does not apply: doc is missing key: {path}: missing value");
    match place {
        Value::Object(map) => {
            map.insert(key, value);
        }
        Value::Array(items) => {
            let at = index(&key, items.len()).map_err(|_| missing())?;
            *items.get_mut(at).ok_or_else(missing)? = value;
        }
        _ => return Err(missing()),
    }
    Ok(())
}

fn test(doc: &mut Value, path: &str, value: Option<&Value>) -> Result<(), String> {
    let failed = || format!("testing value {path} failed: test failed");
    let wanted = value.unwrap_or(&Value::Null);
    if path.is_empty() {
        return if doc == wanted { Ok(()) } else { Err(failed()) };
    }
    let (place, key) = find(doc, path).ok_or_else(|| {
        format!("test operation does not apply: is missing path: {path}: missing value")
    })?;
    let found = get(place, &key).map_err(|e| format!("error in test for path: '{path}': {e}"))?;
    if found.unwrap_or(&Value::Null) == wanted { Ok(()) } else { Err(failed()) }
}

fn move_out(doc: &mut Value, from: &str) -> Result<Value, String> {
    let (place, key) = find(doc, from).ok_or_else(|| {
        format!("move operation does not apply: doc is missing from path: {from}: missing value")
    })?;
    take(place, &key).map_err(|e| format!("error in move for path: '{key}': {e}"))
}

/// Returns the container that holds the end of a path, and the key in it.
fn find<'v>(doc: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let (_, rest) = path.split_once('/')?;
    let (parents, key) = match rest.rsplit_once('/') {
        Some((parents, key)) => (Some(parents), key),
        None => (None, rest),
    };
    let mut place = doc;
    for part in parents.into_iter().flat_map(|parents| parents.split('/')) {
        let part = unescape(part);
        place = match place {
            Value::Object(map) => map.get_mut(&part)?,
            Value::Array(items) => {
                let at = index(&part, items.len()).ok()?;
                items.get_mut(at)?
            }
            _ => return None,
        };
    }
    (place.is_object() || place.is_array()).then(|| (place, unescape(key)))
}

fn unescape(part: &str) -> String {
    if part.contains('~') { part.replace("~1", "/").replace("~0", "~") } else { part.to_owned() }
}

fn get<'v>(place: &'v Value, key: &str) -> Result<Option<&'v Value>, String> {
    match place {
        Value::Array(items) => {
            let at = index(key, items.len())?;
            items.get(at).map(Some).ok_or_else(|| bad_index(key))
        }
        _ => Ok(place.get(key)),
    }
}

fn insert(place: &mut Value, key: &str, value: Value) -> Result<(), String> {
    match place {
        Value::Object(map) => {
            map.insert(key.to_owned(), value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let at = index(key, items.len() + 1).map_err(|e| {
                if e.starts_with("strconv") {
                    format!("value was not a proper array index: '{key}': {e}")
                } else {
                    e
                }
            })?;
            if at > items.len() {
                return Err(bad_index(key));
            }
            items.insert(at, value);
        }
        _ => {}
    }
    Ok(())
}

fn take(place: &mut Value, key: &str) -> Result<Value, String> {
    match place {
        Value::Object(map) => map
            .remove(key)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value")),
        Value::Array(items) => {
            let at = index(key, items.len())?;
            if at >= items.len() {
                return Err(bad_index(key));
            }
            Ok(items.remove(at))
        }
        _ => Ok(Value::Null),
    }
}

/// Reads an index; negative ones count from the end.
fn index(key: &str, len: usize) -> Result<usize, String> {
    let number: i64 = key.parse().map_err(|_| {
        format!("strconv.Atoi: parsing {}: invalid syntax", kusion_k8s_schema::quoted(key))
    })?;
    if number >= 0 {
        return usize::try_from(number).map_err(|_| bad_index(key));
    }
    len.checked_sub(number.unsigned_abs() as usize).ok_or_else(|| bad_index(key))
}

fn bad_index(key: &str) -> String {
    format!("Unable to access invalid index: {key}: invalid index referenced")
}

/// Refuses values that would nest the document too deeply.
fn check_depth(path: &str, value: &Value) -> Result<(), String> {
    let above = path.bytes().filter(|b| *b == b'/').count();
    if above + depth(value) > MAX_DEPTH {
        return Err(format!("the document would be nested more than {MAX_DEPTH} levels deep"));
    }
    Ok(())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
