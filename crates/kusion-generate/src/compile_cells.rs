//! Stacks with cells: their layers are read once, and cells with the same result are compiled once.

use crate::GenerateError;
use crate::cells::{LayerReader, StackCell, StackLayers};
use crate::compile::{Compiled, Job};
use crate::find::Stack;
use crate::origins::shown;
use kcl_driver::{Change, Pool, Session};
use kusion_cells::Selector;
use std::path::Path;

/// Stacks that compile to the same Spec: one without cells, or cells of one stack.
pub(crate) struct Unit {
    /// Places of the stacks, at least one.
    pub(crate) stacks: Vec<usize>,
    /// What layers change in the program.
    pub(crate) changes: Vec<Change>,
}

/// The outcome of each stack; `None` if another cell of the stack has the same error.
type Outcomes = Vec<Option<Result<Compiled, GenerateError>>>;

impl Job<'_> {
    /// Groups stacks by what must be compiled. Returns also the stacks whose layers fail, by place.
    pub(crate) fn units(
        &self,
        session: &Session,
        pool: Pool,
        stacks: &[Stack],
    ) -> (Vec<Unit>, Vec<(usize, GenerateError)>) {
        let reader =
            LayerReader::new(self.system, session, &self.options.confinement, &self.work_dir);
        let folders = by_folder(stacks);
        let read =
            pool.map(folders.len(), || (), |(), at| self.units_of(&reader, stacks, &folders[at]));
        let (mut units, mut failed) = (Vec::with_capacity(stacks.len()), Vec::new());
        for (places, outcome) in folders.iter().zip(read) {
            match outcome {
                Ok(found) => units.extend(found),
                Err(error) => failed.push((places[0], error)),
            }
        }
        (units, failed)
    }

    /// Groups the cells of one stack.
    fn units_of(
        &self,
        reader: &LayerReader<'_>,
        stacks: &[Stack],
        places: &[usize],
    ) -> Result<Vec<Unit>, GenerateError> {
        let stack = &stacks[places[0]];
        let Some(first) = &stack.cell else {
            return Ok(vec![Unit { stacks: places.to_vec(), changes: Vec::new() }]);
        };
        let layers = StackLayers::read(reader, &first.dims, stack, &self.run_options(stack))?;
        let mut units: Vec<Unit> = Vec::new();
        let mut problems = Vec::new();
        for &place in places {
            let Some(cell) = &stacks[place].cell else { continue };
            add_problems(&layers, cell, &mut problems);
            let changes = layers.changes(&cell.cell);
            match units.iter_mut().find(|unit| unit.changes == changes) {
                Some(unit) => unit.stacks.push(place),
                None => units.push(Unit { stacks: vec![place], changes }),
            }
        }
        if problems.is_empty() {
            return Ok(units);
        }
        let folder = shown(&self.work_dir, &stack.folder).to_owned();
        let problems = problems.into_iter().map(|(_, message)| message).collect();
        Err(GenerateError::Layers { stack: folder, problems })
    }
}

/// Adds the problems of a cell that other cells do not have. A problem is told by its kind, path and
/// lines.
fn add_problems(layers: &StackLayers, cell: &StackCell, problems: &mut Vec<(String, String)>) {
    let only = Selector::cell(&layers.dims.axes, &cell.cell);
    for problem in layers.problems(&only) {
        let sides: Vec<String> = problem.sides.iter().map(kusion_cells::Side::text).collect();
        let key = format!("{:?} {} {}", problem.kind, problem.path, sides.join(" "));
        if !problems.iter().any(|(known, _)| *known == key) {
            problems.push((key, layers.message(&problem)));
        }
    }
}

/// Returns the places of the stacks of each folder, in order.
fn by_folder(stacks: &[Stack]) -> Vec<Vec<usize>> {
    let mut folders: Vec<Vec<usize>> = Vec::new();
    let mut last: Option<&Path> = None;
    for (at, stack) in stacks.iter().enumerate() {
        // Cells of one stack follow each other.
        match folders.last_mut() {
            Some(places) if last == Some(&stack.folder) => places.push(at),
            _ => folders.push(vec![at]),
        }
        last = Some(&stack.folder);
    }
    folders
}

/// Returns the outcome of each stack: cells of one unit share it.
pub(crate) fn spread(
    stacks: &[Stack],
    units: &[Unit],
    done: Vec<Result<Compiled, GenerateError>>,
    failed: Vec<(usize, GenerateError)>,
) -> Outcomes {
    let mut outcomes: Outcomes = stacks.iter().map(|_| None).collect();
    for (unit, outcome) in units.iter().zip(done) {
        match outcome {
            Ok(compiled) => {
                for &place in &unit.stacks {
                    let stack = stacks[place].clone();
                    outcomes[place] = Some(Ok(Compiled { stack, ..compiled.clone() }));
                }
            }
            Err(error) => outcomes[unit.stacks[0]] = Some(Err(error)),
        }
    }
    for (place, error) in failed {
        outcomes[place] = Some(Err(error));
    }
    outcomes
}
