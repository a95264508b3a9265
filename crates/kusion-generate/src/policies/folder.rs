//! Folders with policies.

use super::admission::AdmissionPolicies;
use super::evaluator::{KclEvaluator, PROGRAM_LIMITS};
use crate::GenerateError;
use crate::find::{Stack, unreadable};
use crate::origins::shown;
use base_system::System;
use kcl_driver::{EvalOptions, Functions, Input, RunOptions, with_functions};
use kusion_policy::{Evaluator, Found, Policy, PolicyError, PolicySet, Subject, check, except};
use std::path::{Path, PathBuf};

/// The name of folders with policies.
const FOLDER: &str = "policies";
/// The largest number of files of one folder.
const MAX_FILES: usize = 1000;

/// A folder with policies. Its files are one program; packs are the packages that it imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFolder {
    /// The folder.
    pub folder: PathBuf,
    /// Its KCL files, without tests.
    files: Vec<PathBuf>,
    /// Its YAML files, with admission policies.
    objects: Vec<PathBuf>,
    /// The folder that files are shown relative to.
    work_dir: PathBuf,
}

impl PolicyFolder {
    /// Reads the names of the files of a folder; `None` if it has no policies.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, or has too many files.
    pub fn open(
        system: &dyn System,
        folder: &Path,
        work_dir: &Path,
    ) -> Result<Option<Self>, GenerateError> {
        if !system.is_dir(folder) {
            return Ok(None);
        }
        let all = system.read_dir(folder).map_err(unreadable(folder))?;
        let is_policy = |path: &PathBuf| {
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            let stem = name.strip_suffix(".k");
            stem.is_some_and(|it| !it.ends_with("_test") && !it.starts_with(['@', '_', '.']))
        };
        let is_yaml =
            |path: &PathBuf| path.extension().is_some_and(|it| it == "yaml" || it == "yml");
        let objects: Vec<PathBuf> = all.iter().filter(|it| is_yaml(it)).cloned().collect();
        let files: Vec<PathBuf> = all.into_iter().filter(is_policy).collect();
        if files.len() + objects.len() > MAX_FILES {
            let message = format!("the folder has more than {MAX_FILES} files with policies");
            return Err(GenerateError::File { path: folder.to_owned(), line: None, message });
        }
        let (folder, work_dir) = (folder.to_owned(), work_dir.to_owned());
        let is_empty = files.is_empty() && objects.is_empty();
        Ok((!is_empty).then_some(Self { folder, files, objects, work_dir }))
    }

    /// Returns the folder, for display.
    pub fn shown(&self) -> &Path {
        shown(&self.work_dir, &self.folder)
    }

    /// Returns the policies and exceptions.
    ///
    /// # Errors
    ///
    /// If the program is invalid, or sets something that is neither a policy nor an exception.
    pub fn read(&self, system: &(dyn System + Sync)) -> Result<PolicySet, GenerateError> {
        let mut set = self.with_rules(system, |set, _| Ok(set.clone()))?;
        set.policies.extend(self.admission(system)?.listed());
        set.policies.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(set)
    }

    /// Evaluates the policies on subjects, each with all policies.
    ///
    /// # Errors
    ///
    /// As [`Self::read`], or if a selector of cells is invalid.
    pub fn check(
        &self,
        system: &(dyn System + Sync),
        subjects: &[Subject<'_>],
    ) -> Result<Vec<Vec<Found>>, GenerateError> {
        let admission = self.admission(system)?;
        let others: Vec<Vec<Found>> = subjects.iter().map(|it| admission.check(it)).collect();
        self.with_rules(system, |set, evaluator| {
            let check_one = |(subject, others): (&Subject<'_>, &Vec<Found>)| {
                let mut found = check(set, evaluator, subject)?;
                let mut others = others.clone();
                except(&set.exceptions, subject, &mut others)?;
                found.extend(others);
                Ok(found)
            };
            subjects.iter().zip(&others).map(check_one).collect()
        })
    }

    fn admission(&self, system: &dyn System) -> Result<AdmissionPolicies, GenerateError> {
        AdmissionPolicies::read(system, &self.objects, &self.work_dir)
    }

    /// Evaluates the program once, and calls `work` with its policies.
    pub(super) fn with_rules<T: Send>(
        &self,
        system: &(dyn System + Sync),
        work: impl Fn(&PolicySet, &mut KclEvaluator<'_, '_, '_>) -> Result<T, PolicyError> + Sync,
    ) -> Result<T, GenerateError> {
        let options = RunOptions {
            work_dir: Some(self.folder.clone()),
            ignore_default_settings: true,
            eval: EvalOptions { no_io: true, limits: PROGRAM_LIMITS, ..EvalOptions::default() },
            use_cache: true,
            inputs: match self.files.as_slice() {
                // There are admission policies only.
                [] => vec![Input { text: Some(String::new()), ..Input::path("policies.k") }],
                files => files.iter().map(|it| Input::path(it.display().to_string())).collect(),
            },
            ..RunOptions::default()
        };
        let done = with_functions(system, &options, |functions| {
            let set = read_set(functions)?;
            let mut evaluator = KclEvaluator::new(functions, &set, &self.work_dir);
            work(&set, &mut evaluator)
        });
        let done = done.map_err(|error| GenerateError::Program {
            stack: self.folder.clone(),
            findings: error.into_findings(),
        })?;
        done.map_err(|error| self.wrong(system, error))
    }

    /// Names the file and line of a variable that is wrong.
    fn wrong(&self, system: &dyn System, error: PolicyError) -> GenerateError {
        let PolicyError { variable, message } = error;
        let defines = |line: &str| {
            let rest = line.strip_prefix(variable.as_str()).map(str::trim_start);
            rest.is_some_and(|it| it.starts_with(['=', ':', '+']))
        };
        for file in &self.files {
            let text = system.read_to_string(file).unwrap_or_default();
            if let Some(at) = text.lines().position(defines) {
                let path = shown(&self.work_dir, file).to_owned();
                let line = u32::try_from(at + 1).ok();
                return GenerateError::File { path, line, message };
            }
        }
        GenerateError::File { path: self.shown().to_owned(), line: None, message }
    }
}

fn read_set(functions: &Functions<'_, '_>) -> Result<PolicySet, PolicyError> {
    let wrong = |message: String| PolicyError { variable: String::new(), message };
    let data = functions.data().map_err(|error| wrong(error.message))?;
    PolicySet::read(&data, &|path| functions.function(path).is_some())
}

/// The policies that are for a stack: those of all folders `policies` beside it and above it, up to
/// the root of its repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryPolicies {
    /// The folders, the outermost first.
    pub folders: Vec<PolicyFolder>,
}

impl RepositoryPolicies {
    /// Finds the folders of a stack. The root of the repository is the nearest folder with `.git`,
    /// else the one with `kcl.mod`, else that of the project.
    ///
    /// # Errors
    ///
    /// If a folder cannot be read.
    pub fn of_stack(system: &dyn System, stack: &Stack) -> Result<Self, GenerateError> {
        let above: Vec<&Path> = stack.folder.ancestors().collect();
        let root_by = |name: &str| above.iter().position(|it| system.exists(&it.join(name)));
        let project = above.iter().position(|it| *it == stack.project.folder);
        let root = root_by(".git").or_else(|| root_by("kcl.mod")).or(project).unwrap_or(0);
        let work_dir = system.current_dir().unwrap_or_default();
        let mut folders = Vec::new();
        for folder in above[..=root].iter().rev() {
            folders.extend(PolicyFolder::open(system, &folder.join(FOLDER), &work_dir)?);
        }
        Ok(Self { folders })
    }

    /// Whether there is no policy.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Returns all policies, in the order of folders and names.
    ///
    /// # Errors
    ///
    /// As [`PolicyFolder::read`].
    pub fn policies(&self, system: &(dyn System + Sync)) -> Result<Vec<Policy>, GenerateError> {
        let mut policies = Vec::new();
        for folder in &self.folders {
            policies.extend(folder.read(system)?.policies);
        }
        Ok(policies)
    }

    /// Evaluates all policies on subjects; findings of one subject are together.
    ///
    /// # Errors
    ///
    /// As [`PolicyFolder::check`].
    pub fn check(
        &self,
        system: &(dyn System + Sync),
        subjects: &[Subject<'_>],
    ) -> Result<Vec<Vec<Found>>, GenerateError> {
        let mut all: Vec<Vec<Found>> = vec![Vec::new(); subjects.len()];
        for folder in &self.folders {
            for (all, found) in all.iter_mut().zip(folder.check(system, subjects)?) {
                all.extend(found);
            }
        }
        for found in &mut all {
            let order =
                |it: &Found| (it.finding.exception.is_some(), std::cmp::Reverse(it.finding.level));
            found.sort_by_key(order);
        }
        Ok(all)
    }
}

/// Calls a rule with data, for tests of policies.
pub(super) fn call(
    evaluator: &mut KclEvaluator<'_, '_, '_>,
    policy: usize,
    input: &serde_json::Value,
) -> Result<serde_json::Value, kusion_policy::RuleError> {
    let input = evaluator.input(input);
    evaluator.call(policy, &input)
}
