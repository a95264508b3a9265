//! Cells of stacks that are deployed together.

use crate::error::AppError;
use kusion_generate::{Compiled, Stack};
use kusion_model::ResourceId;
use kusion_runtime_k8s::is_shared;
use std::collections::BTreeMap;
use std::path::Path;

/// Checks that no object would belong to two cells of a stack: cells with the same object need
/// different clusters. Shared objects may be in several cells.
///
/// # Errors
///
/// With the first such object.
pub fn check_cells(compiled: &[Compiled]) -> Result<(), AppError> {
    let mut owners: BTreeMap<(&Path, Option<&str>, &ResourceId), &Stack> = BTreeMap::new();
    for stack in compiled {
        let Some(cell) = &stack.stack.cell else { continue };
        let cluster = cell.cluster.as_deref();
        for resource in stack.spec.resources.iter().filter(|it| !is_shared(it)) {
            let key = (stack.stack.folder.as_path(), cluster, &resource.id);
            if let Some(first) = owners.insert(key, &stack.stack) {
                return Err(AppError::SameObject {
                    stack: stack.stack.qualified_name(),
                    first: first.cell_name().to_owned(),
                    second: cell.name.clone(),
                    id: resource.id.to_string(),
                    cluster: cluster.map_or_else(
                        || "one cluster".to_owned(),
                        |name| format!("the cluster `{name}`"),
                    ),
                });
            }
        }
    }
    Ok(())
}
