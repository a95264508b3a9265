//! Patches.

use kusion_k8s_merge::{PatchError, json_patch, merge_patch, strategic_merge};
use serde_json::{Value, json};

use crate::support::{object, typed};

#[test]
fn json_patches_name_what_fails() {
    let doc = json!({"a": {"b": [1, 2]}, "c~/d": 1});
    let run = |ops: Value| {
        json_patch(&doc, &ops).map_err(|e| match e {
            PatchError::Unprocessable(why) => why,
            other => other.to_string(),
        })
    };
    assert_eq!(
        run(
            json!([{"op": "test", "path": "/a/b/0", "value": 1}, {"op": "add", "path": "/a/b/-", "value": 3}, {"op": "remove", "path": "/c~0~1d"}])
        ),
        Ok(json!({"a": {"b": [1, 2, 3]}}))
    );
    assert_eq!(
        run(
            json!([{"op": "move", "from": "/a/b/0", "path": "/x"}, {"op": "copy", "from": "/x", "path": "/a/y"}])
        ),
        Ok(json!({"a": {"b": [2], "y": 1}, "c~/d": 1, "x": 1}))
    );
    for (op, text) in [
        (
            json!({"op": "test", "path": "/a/b/0", "value": 2}),
            "testing value /a/b/0 failed: test failed",
        ),
        (
            json!({"op": "remove", "path": "/a/z"}),
            "error in remove for path: '/a/z': Unable to remove nonexistent key: z: missing value",
        ),
        (
            json!({"op": "remove", "path": "/z/z"}),
            "remove operation does not apply: doc is missing path: \"/z/z\": missing value",
        ),
        (
            json!({"op": "add", "path": "/a/b/5", "value": 1}),
            "error in add for path: '/a/b/5': Unable to access invalid index: 5: invalid index referenced",
        ),
        (
            json!({"op": "replace", "path": "/a/b/5", "value": 1}),
            "replace operation does not apply: doc is missing key: /a/b/5: missing value",
        ),
        (json!({"op": "jump", "path": "/a"}), "Unexpected kind: jump"),
        (json!({"op": "add"}), "add operation failed to decode path: missing value"),
    ] {
        assert_eq!(run(json!([op])), Err(text.to_owned()));
    }
    assert!(json_patch(&doc, &json!({})).is_err());
}

#[test]
fn json_patches_cannot_nest_without_end() {
    let mut doc = json!({"a": {}});
    let mut refused = false;
    for _ in 0..2_000 {
        match json_patch(
            &doc,
            &json!([{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/a", "value": {}}, {"op": "move", "from": "/b", "path": "/a/b"}]),
        ) {
            Ok(next) => doc = next,
            Err(_) => refused = true,
        }
    }
    assert!(refused);
}

#[test]
fn merge_patches_remove_by_null() {
    let doc = json!({"a": {"b": 1, "c": 2}, "l": [1]});
    let patch = json!({"a": {"b": null, "d": {"e": null, "f": 1}}, "l": [null, {"x": null}]});
    assert_eq!(
        merge_patch(&doc, &patch).unwrap(),
        json!({"a": {"c": 2, "d": {"f": 1}}, "l": [null, {}]})
    );
    assert!(merge_patch(&doc, &json!(1)).is_err());
}

fn merged(spec: &Value, patch: &Value) -> Result<Value, String> {
    let done = strategic_merge(typed(), &object(spec), &json!({"spec": patch}));
    done.map(|object| object["spec"].clone()).map_err(|e| e.to_string())
}

#[test]
fn strategic_patches_merge_lists_by_key() {
    let live =
        json!({"items": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}, {"name": "c"}]});
    let patch = json!({"items": [{"name": "d"}, {"name": "b", "image": "3"}]});
    assert_eq!(
        merged(&live, &patch),
        Ok(
            json!({"items": [{"name": "d"}, {"name": "a", "image": "1"}, {"name": "b", "image": "3"}, {"name": "c"}]})
        )
    );
    let patch = json!({"items": [{"name": "b", "$patch": "delete"}]});
    assert_eq!(
        merged(&live, &patch),
        Ok(json!({"items": [{"name": "a", "image": "1"}, {"name": "c"}]}))
    );
    let patch = json!({"items": [{"$patch": "replace"}, {"name": "z"}]});
    assert_eq!(merged(&live, &patch), Ok(json!({"items": [{"name": "z"}]})));
    let patch = json!({"$setElementOrder/items": [{"name": "c"}, {"name": "a"}], "items": [{"name": "a", "image": "9"}]});
    assert_eq!(
        merged(&live, &patch),
        Ok(
            json!({"items": [{"name": "b", "image": "2"}, {"name": "c"}, {"name": "a", "image": "9"}]})
        )
    );
    let patch = json!({"items": [{"image": "x"}]});
    assert_eq!(
        merged(&live, &patch),
        Err("map: map[image:x] does not contain declared merge key: name".to_owned())
    );
}

#[test]
fn strategic_patches_merge_lists_of_values() {
    let live = json!({"set": ["a", "b"], "atomic": ["a"]});
    assert_eq!(
        merged(&live, &json!({"set": ["c", "a"], "atomic": ["z"]})),
        Ok(json!({"set": ["c", "a", "b"], "atomic": ["z"]}))
    );
    assert_eq!(
        merged(&live, &json!({"$deleteFromPrimitiveList/set": ["a"]})),
        Ok(json!({"set": ["b"], "atomic": ["a"]}))
    );
}

#[test]
fn strategic_patches_replace_and_retain() {
    let live = json!({"map": {"a": "1", "b": "2"}, "inner": {"a": 1, "b": 2}});
    assert_eq!(
        merged(
            &live,
            &json!({"map": {"$patch": "replace", "c": "3"}, "inner": {"$retainKeys": ["b"], "b": 3}})
        ),
        Ok(json!({"map": {"c": "3"}, "inner": {"b": 3}}))
    );
    assert_eq!(
        merged(&live, &json!({"map": {"$patch": "delete"}, "inner": null})),
        Ok(json!({"map": {}}))
    );
    assert_eq!(
        merged(&live, &json!({"inner": {"$retainKeys": ["b"], "a": 3}})),
        Err("invalid patch format of retainKeys".to_owned())
    );
    assert_eq!(
        merged(&live, &json!({"map": {"$patch": "x"}})),
        Err("unknown patch type: x in map: map[$patch:x]".to_owned())
    );
}
