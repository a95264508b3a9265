//! Dependencies: explicit ones, those of references, and those that follow from fields.

use crate::identity::Identified;
use crate::infer::infer;
use crate::secrets::{self, SecretInputs};
use crate::shapes::Draft;
use crate::targets;
use crate::waiting;
use kusion_model::references::{self, IdIndex};
use kusion_model::{FieldPath, Resource, ResourceId};
use kusion_plan::graph::{Graph, GraphError, Node};
use rustc_hash::FxHashMap;

/// Sets `dependsOn` of all resources; returns notes for users.
pub(crate) fn link(
    settled: &mut Identified,
    drafts: &[Draft],
    inputs: &SecretInputs,
) -> Result<Vec<String>, String> {
    let Identified { resources, index, .. } = settled;
    let mut notes = inputs.notes.clone();
    let places: FxHashMap<ResourceId, usize> =
        resources.iter().enumerate().map(|(at, resource)| (resource.id.clone(), at)).collect();
    let mut stated = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        for spelling in &draft.depends_on {
            let Some(id) = index.find(spelling) else {
                return Err(unknown(&resources[at], draft, spelling, index));
            };
            stated.push((at, places[id]));
        }
        for spelling in waiting::spellings(&resources[at], draft) {
            let Some(id) = index.find(&spelling) else {
                return Err(unknown(&resources[at], draft, &spelling, index));
            };
            let id = id.clone();
            stated.push((at, places[&id]));
            waiting::add(&mut resources[at], &id);
        }
        let before = stated.len();
        add_references(resources, at, draft, index, &places, &mut stated)?;
        secrets::refuse_references(&resources[at], draft)?;
        notes.extend(secrets::check_marks(&resources[at], draft)?);
        inputs.mark(&mut resources[at]);
        if stated.len() > before {
            references::spell_out(&mut resources[at].attributes, index);
        }
    }
    stated.retain(|(from, to)| from != to);
    let graph = graph(resources, &stated)?;
    graph.order().map_err(|cycle| cycle.to_string())?;
    let mut inferred = infer(resources);
    inferred.sort_unstable();
    inferred.dedup();
    notes.extend(drop_circles(resources, &stated, &mut inferred)?);
    let mut needs: Vec<Vec<ResourceId>> = vec![Vec::new(); resources.len()];
    for (from, to) in stated.iter().chain(&inferred) {
        needs[*from].push(resources[*to].id.clone());
    }
    for (resource, mut needs) in resources.iter_mut().zip(needs) {
        needs.sort_unstable();
        needs.dedup();
        resource.depends_on = needs;
    }
    Ok(notes)
}

fn unknown(resource: &Resource, draft: &Draft, spelling: &str, index: &IdIndex) -> String {
    let near =
        index.nearest(spelling).map_or_else(String::new, |id| format!("; did you mean `{id}`?"));
    format!(
        "resource `{}` at {} depends on `{spelling}`, which is not in the Spec{near}",
        resource.id,
        draft.place()
    )
}

/// Returns the error of a field, with its source location.
pub(crate) fn at_field(
    resource: &Resource,
    draft: &Draft,
    path: &FieldPath,
    message: &str,
) -> String {
    let origin = draft.written.find(path);
    let place = origin.map_or_else(|| draft.place(), |origin| origin.to_string());
    format!("resource `{}`, `{path}` at {place}: {message}", resource.id)
}

/// Checks the references of a resource and adds their edges.
fn add_references(
    resources: &[Resource],
    at: usize,
    draft: &Draft,
    index: &IdIndex,
    places: &FxHashMap<ResourceId, usize>,
    edges: &mut Vec<(usize, usize)>,
) -> Result<(), String> {
    let resource = &resources[at];
    let wrong = |path: &FieldPath, message: String| at_field(resource, draft, path, &message);
    let mut problem = None;
    let visited =
        references::visit(&resource.attributes, index, &mut |path, reference, is_part| {
            let to = places[&reference.id];
            edges.push((at, to));
            if problem.is_none()
                && let Err(message) = targets::check(&reference, &resources[to], is_part)
            {
                problem = Some(wrong(path, message));
            }
        });
    visited.map_err(|(path, error)| wrong(&path, error.to_string()))?;
    problem.map_or(Ok(()), Err)
}

fn graph(resources: &[Resource], edges: &[(usize, usize)]) -> Result<Graph, String> {
    let ids = resources.iter().map(|resource| resource.id.clone()).collect();
    let edges: Vec<_> =
        edges.iter().map(|(from, to)| (Node(*from as u32), Node(*to as u32))).collect();
    Graph::from_edges(ids, &edges).map_err(|error: GraphError| error.to_string())
}

/// Removes inferred edges that form a cycle: explicit ones take precedence.
fn drop_circles(
    resources: &[Resource],
    stated: &[(usize, usize)],
    inferred: &mut Vec<(usize, usize)>,
) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    let edges: Vec<_> = stated.iter().chain(&*inferred).copied().collect();
    let graph = graph(resources, &edges)?;
    if graph.levels().is_ok() {
        return Ok(notes);
    }
    let components = graph.components();
    inferred.retain(|(from, to)| {
        let is_circle = components[*from] == components[*to];
        if is_circle {
            notes.push(format!(
                "`{}` uses `{}`, which depends on it; the explicit dependency is kept",
                resources[*from].id, resources[*to].id
            ));
        }
        !is_circle
    });
    Ok(notes)
}
