//! From options, settings files and `kcl.mod` to one complete set of facts.

use crate::argument::parse_argument;
use crate::error::RunError;
use crate::options::RunOptions;
use crate::plugins::JobPlugins;
use crate::settings::{DEFAULT_FILE, Settings};
use base_diag::{Diagnostic, Severity};
use base_system::{System, root_of};
use kcl_hir::entry::module_root;
use kcl_hir::{Input, PackageMap};
use kcl_pkg::{
    LOCK_FILE, ModFile, Profile, Provider, Request, Resolution, ResolveError, Update, import_name,
    package_home, read_mod_file, resolve,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All that a run needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The options, with what settings and profile say.
    pub(crate) options: RunOptions,
    /// Where relative inputs start.
    pub(crate) base: PathBuf,
    /// The working folder.
    pub(crate) work_dir: PathBuf,
    /// The working folder as the program sees it: what was asked for, in the words used.
    pub(crate) program_dir: PathBuf,
    /// The folder of the settings that name files, in the words used.
    pub(crate) settings_dir: PathBuf,
    pub(crate) packages: PackageMap,
    pub(crate) vendors: Vec<PathBuf>,
    /// Dependencies that `kcl.mod` names and that are not on disk.
    pub(crate) missing: Vec<String>,
    /// Why the first of them could not be downloaded.
    pub(crate) download_error: Option<String>,
    /// Folders whose files may or may not use files and the environment.
    pub(crate) io_rules: Vec<(PathBuf, bool)>,
    /// Where the output goes, if the settings say so.
    pub(crate) output: Option<PathBuf>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Levels of lints, by code or name, that `kcl.mod` sets.
    pub(crate) lint_levels: Vec<(String, String)>,
    /// The plugins that may be imported.
    pub(crate) plugins: Option<Arc<JobPlugins>>,
}

/// Puts together what the caller, the settings files and `kcl.mod` say. The caller wins over
/// settings, settings win over `kcl.mod`.
pub(crate) fn prepare(system: &dyn System, options: &RunOptions) -> Result<Job, Box<RunError>> {
    let work_dir = match &options.work_dir {
        Some(folder) => folder.clone(),
        None => system.current_dir().map_err(RunError::plain)?,
    };
    let work_dir = system.canonicalize(&work_dir).unwrap_or(work_dir);
    let (settings, settings_dir) = read_settings(system, options, &work_dir)?;
    let program_dir = options.work_dir.clone().unwrap_or_else(|| settings_dir.clone());
    let (settings_dir, shown_settings_dir) = (work_dir.join(&settings_dir), settings_dir);
    let warn = |message: &String| {
        Diagnostic::new(Severity::Warning, "W0003", "Settings", None, message.as_str())
    };
    let warnings = settings.unknown.iter().map(warn).collect();
    let mut job = Job {
        options: options.clone(),
        base: work_dir.clone(),
        work_dir,
        program_dir,
        settings_dir: shown_settings_dir,
        packages: PackageMap::default(),
        vendors: package_home(system).into_iter().collect(),
        missing: Vec::new(),
        download_error: None,
        io_rules: Vec::new(),
        output: None,
        warnings,
        lint_levels: Vec::new(),
        plugins: JobPlugins::new(&options.plugins, None),
    };
    job.use_settings(system, settings, &settings_dir)?;
    let granted = job.use_module(system)?;
    job.restrict_io(&granted);
    Ok(job)
}

/// Reads the settings files; gives what they say together, and the folder of the last one
/// that names files, as written.
fn read_settings(
    system: &dyn System,
    options: &RunOptions,
    work_dir: &Path,
) -> Result<(Settings, PathBuf), Box<RunError>> {
    let default = [PathBuf::from(DEFAULT_FILE)];
    let use_default = options.settings.is_empty()
        && !options.ignore_default_settings
        && system.is_file(&work_dir.join(DEFAULT_FILE));
    let paths = if use_default { &default[..] } else { &options.settings };
    let mut settings = Settings::default();
    let mut folder = PathBuf::new();
    for path in paths {
        let full = work_dir.join(path);
        let shown = path.display().to_string();
        let mut one = Settings::read(system, &full, &shown).map_err(RunError::plain)?;
        let place = format!("{}: ", full.display());
        one.unknown.iter_mut().for_each(|message| message.insert_str(0, &place));
        if let (Some(_), Some(parent)) = (&one.files, path.parent()) {
            folder = parent.to_path_buf();
        }
        settings.merge(one);
    }
    Ok((settings, folder))
}

/// Refuses a file for the output that is outside of the repository of the settings that name it.
fn check_output(
    system: &dyn System,
    path: &Path,
    settings_dir: &Path,
    shown: &str,
) -> Result<(), String> {
    // Nothing is written to a folder that is not there.
    let Some(Ok(folder)) = path.parent().map(|folder| system.canonicalize(folder)) else {
        return Ok(());
    };
    let start = system.canonicalize(settings_dir).unwrap_or_else(|_| settings_dir.to_owned());
    let root = root_of(system, &start, &["kcl.mod", "project.yaml"], &start);
    if folder.starts_with(&root) && !folder.components().any(|part| part.as_os_str() == ".git") {
        return Ok(());
    }
    let root = root.display();
    Err(format!("cannot write '{shown}': settings can only name an output below '{root}'"))
}

impl Job {
    fn use_settings(
        &mut self,
        system: &dyn System,
        settings: Settings,
        folder: &Path,
    ) -> Result<(), Box<RunError>> {
        let options = &mut self.options;
        let work_dir = &self.work_dir;
        // What the settings file sees wins, so that a path means the same in both places.
        let place = |path: &str| {
            let near = folder.join(path);
            if system.exists(&near) { near } else { work_dir.join(path) }
        };
        for (name, path) in settings.package_maps.unwrap_or_default() {
            self.packages.insert(name, place(&path));
        }
        for (name, path) in &options.packages {
            self.packages.insert(name.clone(), work_dir.join(path));
        }
        if options.inputs.is_empty() {
            let files = settings.files.unwrap_or_default();
            options.inputs = files.into_iter().map(Input::of_settings).collect();
            self.base = folder.to_path_buf();
        } else {
            for input in &mut options.inputs {
                let near = folder.join(&input.path);
                let is_elsewhere = folder != work_dir && input.text.is_none();
                if is_elsewhere && system.exists(&near) {
                    input.path = near.display().to_string();
                }
            }
        }
        if let Some(path) = settings.output {
            let full = work_dir.join(&path);
            check_output(system, &full, folder, &path).map_err(RunError::plain)?;
            self.output = Some(full);
        }
        if options.overrides.is_empty() {
            options.overrides = settings.overrides.unwrap_or_default();
        }
        if options.selectors.is_empty() {
            options.selectors = settings.path_selector.unwrap_or_default();
        }
        if let (None, Some(format)) = (options.format, settings.format) {
            options.format = Some(format.parse().map_err(RunError::plain)?);
        }
        options.eval.strict_range_check |= settings.strict_range_check.unwrap_or(false);
        options.output.disable_none |= settings.disable_none.unwrap_or(false);
        options.eval.debug |= settings.debug.unwrap_or(false);
        options.output.sort_keys |= settings.sort_keys.unwrap_or(false);
        options.output.show_hidden |= settings.show_hidden.unwrap_or(false);
        options.output.include_schema_type_path |=
            settings.include_schema_type_path.unwrap_or(false);
        options.arguments.splice(0..0, settings.options);
        Ok(())
    }

    /// Takes the entries of the module's profile if it is run as a whole, and its
    /// dependencies.
    /// Returns the dependencies that the module lets use files.
    fn use_module(&mut self, system: &dyn System) -> Result<Vec<String>, Box<RunError>> {
        let mut granted = self.options.allow_io.clone();
        let Some(root) = self.module(system) else { return Ok(granted) };
        self.io_rules.push((root.join("vendor"), false));
        let mod_file = match read_mod_file(system, &root) {
            Ok(Some(mod_file)) => mod_file,
            Ok(None) => return Ok(granted),
            Err(error) => {
                // The reference does not read the file at all: say it, and go on.
                let message = error.to_string();
                let warning = Severity::Warning;
                self.warnings.push(Diagnostic::new(warning, "W0001", "ModFile", None, message));
                return Ok(granted);
            }
        };
        let ModFile { profile, lint_levels, .. } = &mod_file;
        self.lint_levels.clone_from(lint_levels);
        if !mod_file.plugins.is_empty() {
            let module = Some((root.clone(), mod_file.plugins.clone()));
            self.plugins = JobPlugins::new(&self.options.plugins, module);
        }
        match self.options.inputs.as_slice() {
            [] if self.work_dir == root => self.use_profile(&root, profile)?,
            [Input { path, text: None, .. }]
                if !profile.entries.is_empty()
                    && system.canonicalize(&self.base.join(path)).is_ok_and(|p| p == root) =>
            {
                self.use_profile(&root, profile)?;
            }
            _ => {}
        }
        self.use_dependencies(system, &root, &mod_file)?;
        let granting = mod_file.dependencies.iter().filter(|dependency| dependency.io);
        granted.extend(granting.map(|dependency| import_name(&dependency.name)));
        Ok(granted)
    }

    /// Takes the folders of the module's dependencies. What is missing is downloaded, if the options
    /// have a provider, and the lock file is written.
    fn use_dependencies(
        &mut self,
        system: &dyn System,
        root: &Path,
        mod_file: &ModFile,
    ) -> Result<(), Box<RunError>> {
        let provider: Option<&dyn Provider> =
            self.options.provider.as_ref().map(|it| &*it.0 as &dyn Provider);
        let update = &Update::Nothing;
        let request = Request { system, root, mod_file, provider, update, use_vendor: true };
        let resolved = match resolve(&request) {
            // A program that does not import the package needs no download.
            Err(ResolveError::Fetch(reason)) => {
                self.download_error = Some(reason);
                resolve(&Request { provider: None, ..request })
            }
            resolved => resolved,
        };
        let Resolution { packages, missing, lock, lock_changed } =
            resolved.map_err(RunError::plain)?;
        if lock_changed && provider.is_some_and(|it| it.may_write(root)) {
            let path = root.join(LOCK_FILE);
            system.write(&path, &lock.to_text()).map_err(|error| {
                RunError::plain(format!("cannot write {}: {error}", path.display()))
            })?;
        }
        for package in packages {
            self.packages.entry(import_name(&package.name)).or_insert(package.folder);
        }
        self.missing.extend(missing.iter().map(|it| import_name(&it.name)));
        Ok(())
    }

    /// Notes which packages may use files and the environment: only those granted.
    fn restrict_io(&mut self, granted: &[String]) {
        let vendors = self.vendors.iter().map(|folder| (folder.clone(), false));
        let packages = self.packages.iter();
        let packages = packages.map(|(name, folder)| (folder.clone(), granted.contains(name)));
        self.io_rules.extend(vendors.chain(packages));
    }

    /// The root of the module that the first plain input lies in.
    fn module(&self, system: &dyn System) -> Option<PathBuf> {
        let first = self.options.inputs.iter().find(|input| !input.path.starts_with("${"));
        let place = match first {
            Some(Input { path, text: None, .. }) => self.base.join(path),
            _ => self.base.clone(),
        };
        module_root(system, &place)
    }

    fn use_profile(&mut self, root: &Path, profile: &Profile) -> Result<(), Box<RunError>> {
        let whole = [".".to_owned()];
        let entries = if profile.entries.is_empty() { &whole[..] } else { &profile.entries };
        self.options.inputs = entries.iter().map(Input::of_settings).collect();
        self.base = root.to_path_buf();
        let options = &mut self.options;
        options.output.disable_none |= profile.disable_none.unwrap_or(false);
        options.output.sort_keys |= profile.sort_keys.unwrap_or(false);
        if options.overrides.is_empty() {
            options.overrides.clone_from(&profile.overrides);
        }
        if options.selectors.is_empty() {
            options.selectors.clone_from(&profile.selectors);
        }
        let arguments: Result<Vec<_>, _> =
            profile.options.iter().map(|spec| parse_argument(spec)).collect();
        options.arguments.splice(0..0, arguments.map_err(RunError::plain)?);
        Ok(())
    }
}
