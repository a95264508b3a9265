//! Stacks to Specs, on several threads.

use crate::error::findings_json;
use crate::find::{Stack, find};
use crate::identity::{Additions, Identified, settle};
use crate::link::link;
use crate::origins::{self, shown};
use crate::secrets::{SecretInputs, has_secrets};
use crate::{CompileOptions, GenerateError, crds, shapes};
use base_diag::Findings;
use base_system::System;
use kcl_driver::{
    Documents, EvalOptions, Format, Input, Pool, RunOptions, RunOutput, Runner, Session, Sharing,
    Tracking, parse_argument,
};
use kusion_model::{Origins, Spec};
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

    /// Returns the warnings as JSON objects, for programs; see [`GenerateError::to_json`].
    pub fn warnings_json(&self) -> Vec<serde_json::Value> {
        findings_json(&self.warnings, &self.shown)
    }
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
    let work_dir = match &options.work_dir {
        Some(folder) => folder.clone(),
        None => system.current_dir().map_err(crate::find::unreadable(Path::new(".")))?,
    };
    let work_dir = system.canonicalize(&work_dir).map_err(crate::find::unreadable(&work_dir))?;
    let stacks = find(system, &work_dir, &options.folders)?;
    let mut arguments = Vec::with_capacity(options.arguments.len());
    for argument in &options.arguments {
        let parsed = parse_argument(argument);
        arguments.push(parsed.map_err(|_| GenerateError::Argument(argument.clone()))?);
    }
    let job = Job { system, options, work_dir, arguments };
    job.compile_all(&stacks)
}

struct Job<'a> {
    system: &'a (dyn System + Sync),
    options: &'a CompileOptions,
    work_dir: PathBuf,
    arguments: Vec<(String, String)>,
}

impl Job<'_> {
    fn compile_all(&self, stacks: &[Stack]) -> Result<Vec<Compiled>, GenerateError> {
        let session = Session::cached(self.system);
        let pool = Pool { threads: self.options.threads, chunk: 1 };
        let sharing = if stacks.len() > 1 { Sharing::Evaluated } else { Sharing::Checked };
        let begin = || Runner::new(&session, self.system, sharing);
        let done = pool.map(stacks.len(), begin, |runner, at| self.compile(runner, &stacks[at]));
        let (mut compiled, mut errors) = (Vec::with_capacity(done.len()), Vec::new());
        for outcome in done {
            match outcome {
                Ok(stack) => compiled.push(stack),
                Err(error) => errors.push(error),
            }
        }
        match errors.len() {
            0 => Ok(compiled),
            1 => Err(errors.swap_remove(0)),
            _ => Err(GenerateError::Several(errors)),
        }
    }

    fn compile(&self, runner: &mut Runner<'_>, stack: &Stack) -> Result<Compiled, GenerateError> {
        let is_plain = !stack.has_settings && self.options.settings.is_empty();
        let run = RunOptions {
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
        let mut settled = settle(&mut drafts.resources, &additions(stack)).map_err(wrong)?;
        let inputs = self.secret_inputs(stack);
        notes.extend(link(&mut settled, &drafts.resources, &inputs).map_err(wrong)?);
        let Identified { resources, .. } = settled;
        let ids = resources.iter().map(|resource| &resource.id);
        let origins = Origins::new(origins::Table::new(ids, drafts.resources));
        let (secret_store, context) = (drafts.secret_store, drafts.context);
        let spec = Spec { resources, secret_store, context };
        let Output { printed, warnings, .. } = output;
        Ok(Compiled { stack: stack.clone(), shown, spec, origins, printed, warnings, notes })
    }
}

impl Job<'_> {
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

/// Returns the additions of project and stack to all objects; the stack takes precedence.
fn additions(stack: &Stack) -> Additions {
    let mut additions = Additions::default();
    let extensions = [&stack.project.file.extensions, &stack.file.extensions];
    for extension in extensions.into_iter().flatten().flatten() {
        match extension.kind.as_str() {
            "kubernetesNamespace" => {
                let namespace = extension.kubernetes_namespace.as_ref();
                additions.namespace = namespace.map(|it| it.namespace.clone());
            }
            "kubernetesMetadata" => {
                let metadata = extension.kubernetes_metadata.clone().unwrap_or_default();
                additions.labels.extend(metadata.labels);
                additions.annotations.extend(metadata.annotations);
            }
            _ => {}
        }
    }
    additions
}
