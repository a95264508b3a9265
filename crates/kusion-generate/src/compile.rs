//! Stacks to Specs, on several threads.

use crate::compile_cells::{Grouped, spread};
use crate::error::{findings_json, note_json};
use crate::find::{BrokenStack, Stack, check_names, find_cells, find_each};
use crate::identity::{Added, Additions, Identified, settle};
use crate::link::link;
use crate::origins::{self, shown};
use crate::secrets::{SecretInputs, has_secrets};
use crate::{CompileOptions, GenerateError, annotations, crds, shapes};
use base_diag::Findings;
use base_system::System;
use kcl_driver::{
    Change, Documents, EvalOptions, Format, Input, Pool, RunOptions, RunOutput, Runner, Session,
    Sharing, Tracking, parse_argument,
};
use kusion_model::{Origin, Origins, Spec};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A stack that compiled.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The stack, with its project.
    pub stack: Stack,
    /// The folder of the stack as messages show it: relative to the working folder.
    pub shown: PathBuf,
    /// The desired state. `dependsOn` contains all dependencies: explicit ones, those of
    /// references, and those that follow from fields.
    pub spec: Spec,
    /// Source locations of the attributes; files are relative to the working folder. Computed by
    /// the same evaluation as the Spec.
    pub origins: Origins,
    /// Output of `print`.
    pub printed: String,
    /// The warnings of the compiler.
    pub warnings: Findings,
    /// Notes for the user, such as dropped dependencies.
    pub notes: Vec<String>,
}

impl Compiled {
    /// Returns whether the Spec contains secrets, which are plain in it.
    pub fn has_secrets(&self) -> bool {
        self.spec.resources.iter().any(has_secrets)
    }

    /// Returns the warnings and notes as JSON objects, for programs; see
    /// [`GenerateError::to_json`].
    pub fn warnings_json(&self) -> Vec<serde_json::Value> {
        let mut found = findings_json(&self.warnings, &self.shown);
        found.extend(self.notes.iter().map(|note| note_json(note, &self.shown)));
        found
    }
}

/// The stacks of folders: those that compiled and those that did not.
#[derive(Debug)]
pub struct Outcome {
    /// The stacks that compiled, in the order of their paths.
    pub compiled: Vec<Compiled>,
    /// The other stacks; their folders are relative to the working folder.
    pub errors: Vec<BrokenStack>,
    /// The number of all stacks.
    pub n_stacks: usize,
    /// What was evaluated for them.
    pub work: Work,
}

/// What was evaluated to compile stacks: a measure that does not depend on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Files with layers in KCL.
    pub n_layer_files: usize,
    /// Programs whose variables were read, to merge layers with them.
    pub n_partial_programs: usize,
    /// Programs that ran, with all defaults and checks.
    pub n_programs: usize,
}

/// Compiles the stacks of folders, in the order of their paths.
///
/// # Errors
///
/// If there is no stack, or one does not compile to a Spec. All stacks are tried before.
pub fn compile(
    system: &(dyn System + Sync),
    options: &CompileOptions,
) -> Result<Vec<Compiled>, GenerateError> {
    let job = Job::new(system, options)?;
    let cells = options.cells.as_deref();
    let stacks = find_cells(system, &job.work_dir, &options.folders, cells)?;
    let (compiled, broken, _) = job.compile_all(&stacks);
    // Cells of one stack follow each other.
    let is_one = stacks.iter().all(|it| it.folder == stacks[0].folder);
    let n_stacks = stacks.len();
    let mut errors: Vec<GenerateError> = broken.into_iter().map(|it| it.error).collect();
    match (errors.pop(), errors.is_empty() && is_one) {
        (None, _) => Ok(compiled),
        (Some(only), true) => Err(only),
        (Some(last), false) => {
            errors.push(last);
            Err(GenerateError::Several { errors, n_stacks })
        }
    }
}

/// Compiles the stacks of folders, in the order of their paths. A stack that fails does not keep
/// the others from being compiled.
///
/// # Errors
///
/// If there is no stack, two stacks of a project have the same name, or the options are invalid.
pub fn compile_each(
    system: &(dyn System + Sync),
    options: &CompileOptions,
) -> Result<Outcome, GenerateError> {
    let job = Job::new(system, options)?;
    let cells = options.cells.as_deref();
    let found = find_each(system, &job.work_dir, &options.folders, cells)?;
    let n_stacks = found.len();
    let (mut stacks, mut errors) = (Vec::with_capacity(n_stacks), Vec::new());
    for stack in found {
        match stack {
            Ok(stack) => stacks.push(stack),
            Err(BrokenStack { stack, error }) => {
                let stack = shown(&job.work_dir, &stack).to_path_buf();
                errors.push(BrokenStack { stack, error });
            }
        }
    }
    check_names(&stacks)?;
    let (compiled, broken, work) = job.compile_all(&stacks);
    errors.extend(broken);
    errors.sort_by(|a, b| a.stack.cmp(&b.stack));
    Ok(Outcome { compiled, errors, n_stacks, work })
}

pub(crate) struct Job<'a> {
    pub(crate) system: &'a (dyn System + Sync),
    pub(crate) options: &'a CompileOptions,
    pub(crate) work_dir: PathBuf,
    arguments: Vec<(String, String)>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        system: &'a (dyn System + Sync),
        options: &'a CompileOptions,
    ) -> Result<Self, GenerateError> {
        let work_dir = match &options.work_dir {
            Some(folder) => folder.clone(),
            None => system.current_dir().map_err(crate::find::unreadable(Path::new(".")))?,
        };
        let work_dir =
            system.canonicalize(&work_dir).map_err(crate::find::unreadable(&work_dir))?;
        let mut arguments = Vec::with_capacity(options.arguments.len());
        for argument in &options.arguments {
            let parsed = parse_argument(argument);
            arguments.push(parsed.map_err(|_| GenerateError::Argument(argument.clone()))?);
        }
        Ok(Self { system, options, work_dir, arguments })
    }

    /// Compiles stacks; returns those that compile, the others, and what was evaluated.
    fn compile_all(&self, stacks: &[Stack]) -> (Vec<Compiled>, Vec<BrokenStack>, Work) {
        let session = Session::cached(self.system);
        let pool = Pool { threads: self.options.threads, chunk: 1 };
        let sharing = Sharing::Evaluated;
        let Grouped { units, failed, mut work } = self.units(&session, pool, stacks);
        work.n_programs = units.len();
        let sharing = if units.len() > 1 { sharing } else { Sharing::Checked };
        let begin = || Runner::new(&session, self.system, sharing);
        let done = pool.map(units.len(), begin, |runner, at| {
            let unit = &units[at];
            self.compile(runner, &stacks[unit.stacks[0]], &unit.changes)
        });
        let done = spread(stacks, &units, done, failed);
        let (mut compiled, mut broken) = (Vec::with_capacity(done.len()), Vec::new());
        let mut last_project = None;
        for (stack, outcome) in stacks.iter().zip(done) {
            let Some(outcome) = outcome else { continue };
            match outcome {
                Ok(mut one) => {
                    let of_project = last_project != Some(&stack.project.folder);
                    last_project = Some(&stack.project.folder);
                    one.notes.splice(0..0, self.file_notes(stack, of_project));
                    compiled.push(one);
                }
                Err(error) => {
                    let stack = shown(&self.work_dir, &stack.folder).to_path_buf();
                    broken.push(BrokenStack { stack, error });
                }
            }
        }
        (compiled, broken, work)
    }

    /// Returns what has no effect in `stack.yaml` and, on request, in `project.yaml`.
    fn file_notes(&self, stack: &Stack, with_project: bool) -> Vec<String> {
        let notes = |folder: &Path, file: &str, warnings: Vec<String>| {
            let path = folder.join(file);
            let path = shown(&self.work_dir, &path).display().to_string();
            warnings.into_iter().map(|it| format!("{path}: {it}")).collect::<Vec<_>>()
        };
        let mut found = Vec::new();
        if with_project {
            let project = &stack.project;
            found = notes(&project.folder, "project.yaml", project.file.warnings());
        }
        found.extend(notes(&stack.folder, "stack.yaml", stack.file.warnings()));
        found
    }

    /// Returns how the program of a stack is run.
    pub(crate) fn run_options(&self, stack: &Stack) -> RunOptions {
        let is_plain = !stack.has_settings && self.options.settings.is_empty();
        let mut run = RunOptions {
            work_dir: Some(stack.folder.clone()),
            inputs: if is_plain { vec![Input::path(".")] } else { Vec::new() },
            settings: self.options.settings.clone(),
            arguments: self.arguments.clone(),
            overrides: self.options.overrides.clone(),
            format: Some(Format::Data),
            eval: EvalOptions { tracking: Tracking::Givers, ..EvalOptions::default() },
            use_cache: true,
            ..RunOptions::default()
        };
        self.options.confinement.apply(&mut run);
        run
    }

    fn compile(
        &self,
        runner: &mut Runner<'_>,
        stack: &Stack,
        changes: &[Change],
    ) -> Result<Compiled, GenerateError> {
        let run = RunOptions { changes: changes.to_vec(), ..self.run_options(stack) };
        let shown = shown(&self.work_dir, &stack.folder).to_path_buf();
        let output = runner.run(&run, Output::take).map_err(|error| GenerateError::Program {
            stack: shown.clone(),
            findings: error.into_findings(),
        })?;
        let mut notes = Vec::new();
        let wrong = |message| GenerateError::Output { stack: shown.clone(), message };
        let (places, work_dir) = (Arc::clone(&output.documents.places), self.work_dir.clone());
        let written = Arc::new(origins::Output { places, work_dir });
        let mut drafts = shapes::read(output.documents, written).map_err(wrong)?;
        notes.append(&mut drafts.notes);
        if !drafts.is_something {
            notes.push("the output is empty: the stack has no resources".to_owned());
        }
        let folder = stack.project.folder.join("crd");
        drafts.resources.extend(crds::read(self.system, &folder, &self.work_dir)?);
        let mut settled = settle(&mut drafts.resources, &self.additions(stack)).map_err(wrong)?;
        notes.append(&mut settled.notes);
        let inputs = self.secret_inputs(stack);
        notes.extend(link(&mut settled, &drafts.resources, &inputs).map_err(wrong)?);
        let Identified { resources, .. } = settled;
        notes.extend(annotations::notes(&resources, &drafts.resources));
        let ids = resources.iter().map(|resource| &resource.id);
        let origins = Origins::new(origins::Table::new(ids, drafts.resources));
        let (secret_store, context) = (drafts.secret_store, drafts.context);
        let spec = Spec { resources, secret_store, context };
        let Output { printed, warnings, .. } = output;
        Ok(Compiled { stack: stack.clone(), shown, spec, origins, printed, warnings, notes })
    }
}

impl Job<'_> {
    /// Returns the additions of project and stack to all objects; the stack takes precedence.
    fn additions(&self, stack: &Stack) -> Additions {
        let mut additions = Additions::default();
        let files = [
            (stack.project.folder.join("project.yaml"), &stack.project.file.extensions),
            (stack.folder.join("stack.yaml"), &stack.file.extensions),
        ];
        for (file, extensions) in files {
            let origin = Origin::new(shown(&self.work_dir, &file).to_string_lossy(), 0, 0);
            let added = |value: String| Added { value, origin: origin.clone() };
            for extension in extensions.iter().flatten() {
                match extension.kind.as_str() {
                    "kubernetesNamespace" => {
                        let namespace = extension.kubernetes_namespace.as_ref();
                        additions.namespace = namespace.map(|it| added(it.namespace.clone()));
                    }
                    "kubernetesMetadata" => {
                        let metadata = extension.kubernetes_metadata.clone().unwrap_or_default();
                        let labels = metadata.labels.into_iter();
                        additions.labels.extend(labels.map(|(key, value)| (key, added(value))));
                        let annotations = metadata.annotations.into_iter();
                        let annotations = annotations.map(|(key, value)| (key, added(value)));
                        additions.annotations.extend(annotations);
                    }
                    _ => {}
                }
            }
        }
        additions
    }

    /// Returns the values of the secret inputs of a stack.
    fn secret_inputs(&self, stack: &Stack) -> SecretInputs {
        let of_files = [&stack.project.file.secret_inputs, &stack.file.secret_inputs];
        let names = self.options.secret_inputs.iter().chain(of_files.into_iter().flatten());
        let names: Vec<String> = names.cloned().collect();
        SecretInputs::new(&names, &self.arguments, &|name| self.system.env(name))
    }
}

/// The output of a program.
struct Output {
    documents: Documents,
    printed: String,
    /// The warnings of the compiler.
    warnings: Findings,
}

impl Output {
    fn take(output: &mut RunOutput) -> Self {
        Self {
            documents: output.documents.take().unwrap_or_default(),
            printed: std::mem::take(&mut output.printed),
            warnings: Findings::new(std::mem::take(&mut output.warnings), &output.program),
        }
    }
}
