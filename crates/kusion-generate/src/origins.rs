//! Where attributes come from.

use crate::shapes::Draft;
use kcl_driver::{Leaf, Origin as Source, Provenance, Step};
use kusion_model::{FieldPath, Origin, PathStep};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Whether the paths of a result begin with the number of a document.
pub(crate) fn is_numbered(provenance: Option<&Provenance>) -> bool {
    let first = provenance.and_then(|it| it.leaves.first()).and_then(|leaf| leaf.path.first());
    matches!(first, Some(Step::Index(_)))
}

/// Gives each draft the leaves of its attributes. `show` says how a file is shown.
pub(crate) fn attach(
    drafts: &mut [Draft],
    provenance: Provenance,
    show: impl Fn(&str) -> Arc<str>,
) {
    let by_path: FxHashMap<FieldPath, usize> =
        drafts.iter().enumerate().map(|(at, draft)| (draft.at.clone(), at)).collect();
    let longest = drafts.iter().map(|draft| draft.at.0.len()).max().unwrap_or(0);
    let mut shown: FxHashMap<Arc<str>, Arc<str>> = FxHashMap::default();
    // Leaves of one resource come one after the other.
    let mut last: Option<usize> = None;
    for Leaf { path, origin, .. } in provenance.leaves {
        let mut path: Vec<PathStep> = path.into_iter().map(step).collect();
        let is_inside = |at: &usize| path.starts_with(&drafts[*at].at.0);
        let found = last.filter(is_inside).or_else(|| {
            let mut prefix = FieldPath(path[..longest.min(path.len())].to_vec());
            loop {
                if let Some(at) = by_path.get(&prefix) {
                    return Some(*at);
                }
                prefix.0.pop()?;
            }
        });
        let Some(at) = found else { continue };
        last = Some(at);
        let draft = &mut drafts[at];
        let inner = FieldPath(path.split_off(draft.at.0.len()));
        let origin = match origin {
            Source::Source(place) | Source::Option { place, .. } => {
                let file = shown.entry(place.file.clone()).or_insert_with(|| show(&place.file));
                Origin { file: file.clone(), line: place.line, column: place.column }
            }
            Source::Override { spec } => {
                Origin { file: format!("-O {spec}").into(), line: 0, column: 0 }
            }
            Source::Builtin => continue,
        };
        draft.leaves.push((inner, origin));
    }
}

fn step(step: Step) -> PathStep {
    match step {
        Step::Key(key) => PathStep::Key(key),
        Step::Index(index) => PathStep::Index(index),
    }
}
