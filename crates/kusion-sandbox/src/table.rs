//! Tables for `kubectl get`: columns and cells per kind.

use crate::cluster::Cluster;
use crate::object;
use crate::registry::Served;
use serde_json::{Value, json};

/// Returns objects as a table.
pub(crate) fn table(
    _cluster: &Cluster,
    _served: &Served,
    version: &str,
    objects: &[&Value],
) -> Value {
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            json!({
                "cells": [object::name(object), object::meta_text(object, "creationTimestamp")],
                "object": {
                    "kind": "PartialObjectMetadata",
                    "apiVersion": format!("meta.k8s.io/{version}"),
                    "metadata": object["metadata"],
                },
            })
        })
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": {},
        "columnDefinitions": [
            {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0},
            {"name": "Created At", "type": "date", "format": "", "description": "", "priority": 0},
        ],
        "rows": rows,
    })
}
