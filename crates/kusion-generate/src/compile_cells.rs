//! Stacks with cells: their layers are read once, and cells with the same result are compiled once.

use crate::cells::{LayerReader, StackLayers};
use crate::compile::{Compiled, Job, Work};
use crate::find::{Stack, find_cells};
use crate::origins::shown;
use crate::{CompileOptions, GenerateError};
use base_system::System;
use kcl_driver::{Change, Pool, RunOptions, Session};
use std::path::{Path, PathBuf};

/// Stacks that compile to the same Spec: one without cells, or cells of one stack.
pub(crate) struct Unit {
    /// Places of the stacks, at least one.
    pub(crate) stacks: Vec<usize>,
    /// What layers change in the program.
    pub(crate) changes: Vec<Change>,
}

/// What must be compiled for stacks.
pub(crate) struct Grouped {
    pub(crate) units: Vec<Unit>,
    /// The stacks whose layers fail, by place.
    pub(crate) failed: Vec<(usize, GenerateError)>,
    /// What was evaluated to find out.
    pub(crate) work: Work,
}

/// The outcome of each stack; `None` if another cell of the stack has the same error.
type Outcomes = Vec<Option<Result<Compiled, GenerateError>>>;

impl Job<'_> {
    /// Groups stacks by what must be compiled.
    pub(crate) fn units(&self, session: &Session, pool: Pool, stacks: &[Stack]) -> Grouped {
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
        Grouped { units, failed, work: reader.work() }
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
        let problems = layers.problems(&first.covers);
        if !problems.is_empty() {
            let folder = shown(&self.work_dir, &stack.folder).to_owned();
            let problems = problems.iter().map(|it| layers.message(it)).collect();
            return Err(GenerateError::Layers { stack: folder, problems });
        }
        let mut units: Vec<Unit> = Vec::new();
        for &place in places {
            let Some(cell) = &stacks[place].cell else { continue };
            let changes = layers.changes(&cell.cell);
            match units.iter_mut().find(|unit| unit.changes == changes) {
                Some(unit) => unit.stacks.push(place),
                None => units.push(Unit { stacks: vec![place], changes }),
            }
        }
        Ok(units)
    }
}

/// A stack with cells, and its layers.
#[derive(Debug)]
pub struct LayeredStack {
    /// The stack, for each of its cells that are looked for; at least one.
    pub cells: Vec<Stack>,
    /// The folder of the stack as messages show it.
    pub shown: PathBuf,
    /// Its layers, or why they cannot be read.
    pub layers: Result<StackLayers, GenerateError>,
}

/// Reads the layers of the stacks with cells in folders, without compiling them. `roots` are
/// variables of the programs that are read even if no layer sets them.
///
/// # Errors
///
/// If there is no stack, or the files of one are invalid.
pub fn layered_stacks(
    system: &(dyn System + Sync),
    options: &CompileOptions,
    roots: &[String],
) -> Result<Vec<LayeredStack>, GenerateError> {
    let job = Job::new(system, options)?;
    let cells = options.cells.as_deref();
    let mut stacks = find_cells(system, &job.work_dir, &options.folders, cells)?;
    stacks.retain(|stack| stack.cell.is_some());
    let session = Session::cached(system);
    let reader = LayerReader::new(system, &session, &options.confinement, &job.work_dir);
    let folders = by_folder(&stacks);
    let pool = Pool { threads: options.threads, chunk: 8 };
    let read = pool.map(
        folders.len(),
        || (),
        |(), at| {
            let stack = &stacks[folders[at][0]];
            let cell = stack.cell.as_ref()?;
            let run = RunOptions { roots: roots.to_vec(), ..job.run_options(stack) };
            Some(StackLayers::read(&reader, &cell.dims, stack, &run))
        },
    );
    let mut found = Vec::with_capacity(folders.len());
    for (places, layers) in folders.iter().zip(read) {
        let Some(layers) = layers else { continue };
        let cells: Vec<Stack> = places.iter().map(|at| stacks[*at].clone()).collect();
        let shown = shown(&job.work_dir, &cells[0].folder).to_owned();
        found.push(LayeredStack { cells, shown, layers });
    }
    Ok(found)
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
