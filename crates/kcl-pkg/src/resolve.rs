//! Chooses one version of each dependency and finds its folder.
//!
//! Dependencies are taken breadth first, so that what is closer to the module decides: the first
//! `path` or Git source of a name is used. Of packages of registries, the version is the highest
//! that some module asks for; if a later demand raises it, resolution starts again. Demands are not
//! forgotten meanwhile, so this ends. It starts with the versions of the lock file, so that nothing
//! else is looked for if they are still right.

mod choose;
mod error;

pub use error::ResolveError;

use crate::disk::{find_named, find_stored, package_folder};
use crate::lock_file::{LockFile, Locked, Origin, full_name, read_lock_file};
use crate::mod_file::{Dependency, ModFile, read_mod_file};
use crate::provider::{Fetched, Provider, Wanted};
use crate::source::{Source, is_safe_word};
use crate::sum::sums;
use crate::verify::verify;
use base_system::System;
use choose::{Choice, choose};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// How often resolution may start again.
const MAX_ROUNDS: usize = 256;

/// What is to be resolved.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// Where files are.
    pub system: &'r dyn System,
    /// The folder of the module.
    pub root: &'r Path,
    /// Its `kcl.mod`.
    pub mod_file: &'r ModFile,
    /// Where packages that are not on disk come from.
    pub provider: Option<&'r dyn Provider>,
    /// What the lock file records and is not used.
    pub update: &'r Update,
    /// Whether packages in the folder `vendor` of the module are used.
    pub use_vendor: bool,
}

/// Which packages are chosen anew, whatever the lock file records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// None.
    #[default]
    Nothing,
    /// All.
    All,
    /// Those of these names.
    Names(Vec<String>),
}

impl Update {
    fn includes(&self, name: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::Names(names) => names.iter().any(|it| import_name(it) == import_name(name)),
        }
    }
}

/// What one module asks of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The module, as users know it.
    pub by: String,
    /// Whether it is the module that is resolved.
    pub is_root: bool,
    /// The name in its `kcl.mod`.
    pub name: String,
    /// What it asks for.
    pub source: Source,
    /// Its folder.
    folder: PathBuf,
    /// The download that it is a part of, which paths may not leave.
    within: Option<PathBuf>,
}

/// A package that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The name in `kcl.mod`.
    pub name: String,
    /// Version, tag, commit or branch; empty if it has none.
    pub version: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Where it comes from.
    pub origin: Origin,
    /// The import names of its own dependencies.
    pub dependencies: Vec<String>,
    /// The folder of the whole download; `None` for a path.
    whole: Option<PathBuf>,
    /// What the lock file will record, if that is known.
    locked: Option<Locked>,
}

/// A package that is not on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The name in `kcl.mod`.
    pub name: String,
    /// What was asked for.
    pub source: Source,
}

/// All packages of a module.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// The packages, in the order in which they were met.
    pub packages: Vec<Package>,
    /// Packages that are not on disk, if there is no provider.
    pub missing: Vec<Missing>,
    /// The lock file for this choice; only if there is a provider.
    pub lock: LockFile,
    /// Whether it is not the one on disk.
    pub lock_changed: bool,
}

impl Resolution {
    /// Returns a package by its import name.
    pub fn get(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|it| import_name(&it.name) == name)
    }
}

/// Returns the name by which files import a package: names of packages may have dashes.
pub fn import_name(name: &str) -> String {
    name.replace('-', "_")
}

/// Chooses one version of each dependency of a module, and of theirs, and finds their folders.
/// What the lock file records is checked. Without a provider, packages that are not on disk are left
/// out: importing them is an error of the program.
pub fn resolve(request: &Request<'_>) -> Result<Resolution, ResolveError> {
    if request.mod_file.dependencies.is_empty() {
        return Ok(Resolution::default());
    }
    let lock = read_lock_file(request.system, request.root).map_err(ResolveError::Lock)?;
    let mut resolver = Resolver::new(*request, lock);
    for _ in 0..MAX_ROUNDS {
        if let Some(mut resolution) = resolver.round()? {
            resolver.finish(&mut resolution)?;
            return Ok(resolution);
        }
    }
    Err(ResolveError::TooManyRounds)
}

struct Resolver<'r> {
    request: Request<'r>,
    lock: Option<LockFile>,
    /// All that was asked for, by import name.
    demands: BTreeMap<String, Vec<Demand>>,
    /// What was found in earlier rounds.
    known: Vec<(Choice, Option<Package>)>,
    /// Packages, by import name, whose locked version is not the right one any more.
    outdated: BTreeSet<String>,
}

/// A module whose dependencies are taken next.
struct Visit {
    by: String,
    is_root: bool,
    folder: PathBuf,
    within: Option<PathBuf>,
    dependencies: Vec<Dependency>,
}

impl<'r> Resolver<'r> {
    fn new(request: Request<'r>, lock: Option<LockFile>) -> Self {
        let (demands, known, outdated) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        Self { request, lock, demands, known, outdated }
    }

    fn choose(&self, name: &str, prefers_locked: bool) -> Result<Choice, ResolveError> {
        let prefers_locked = prefers_locked && !self.outdated.contains(name);
        choose(self.request, self.lock.as_ref(), &self.demands[name], prefers_locked)
    }

    /// Takes all dependencies once; `None` if a demand changed an earlier choice.
    fn round(&mut self) -> Result<Option<Resolution>, ResolveError> {
        let Request { root, mod_file, .. } = self.request;
        let mut resolution = Resolution::default();
        let mut chosen: BTreeMap<String, Choice> = BTreeMap::new();
        let mut queue = VecDeque::from([Visit {
            by: mod_file.name.clone().unwrap_or_else(|| "this module".to_owned()),
            is_root: true,
            folder: root.to_path_buf(),
            within: None,
            dependencies: mod_file.dependencies.clone(),
        }]);
        while let Some(visit) = queue.pop_front() {
            for dependency in &visit.dependencies {
                let name = import_name(&dependency.name);
                self.demand(&name, &visit, dependency);
                let choice = self.choose(&name, true)?;
                if let Some(earlier) = chosen.get(&name) {
                    if *earlier != choice {
                        return Ok(None);
                    }
                    continue;
                }
                chosen.insert(name, choice.clone());
                match self.obtain(&choice)? {
                    Some((package, next)) => {
                        resolution.packages.push(package);
                        queue.extend(next);
                    }
                    None => resolution
                        .missing
                        .push(Missing { name: choice.name.clone(), source: choice.source.clone() }),
                }
            }
        }
        for (name, choice) in &chosen {
            if self.choose(name, false)? != *choice {
                self.outdated.insert(name.clone());
                self.demands.clear();
                return Ok(None);
            }
        }
        Ok(Some(resolution))
    }

    fn demand(&mut self, name: &str, visit: &Visit, dependency: &Dependency) {
        let demand = Demand {
            by: visit.by.clone(),
            is_root: visit.is_root,
            name: dependency.name.clone(),
            source: dependency.source.clone(),
            folder: visit.folder.clone(),
            within: visit.within.clone(),
        };
        let demands = self.demands.entry(name.to_owned()).or_default();
        if !demands.contains(&demand) {
            demands.push(demand);
        }
    }

    /// Finds the folder of a choice; `None` if it is not on disk and cannot be obtained.
    fn obtain(
        &mut self,
        choice: &Choice,
    ) -> Result<Option<(Package, Option<Visit>)>, ResolveError> {
        let known = self.known.iter().find(|(it, _)| it == choice);
        let package = if let Some((_, package)) = known {
            package.clone()
        } else {
            let package = self.find(choice)?;
            self.known.push((choice.clone(), package.clone()));
            package
        };
        let Some(mut package) = package else { return Ok(None) };
        let inner = read_mod_file(self.request.system, &package.folder).ok().flatten();
        let Some(inner) = inner else { return Ok(Some((package, None))) };
        package.dependencies = inner.dependencies.iter().map(|it| import_name(&it.name)).collect();
        if let (Origin::Path, Some(version)) = (&package.origin, &inner.version) {
            package.version.clone_from(version);
        }
        let by = if package.version.is_empty() {
            package.name.clone()
        } else {
            format!("{} {}", package.name, package.version)
        };
        let visit = Visit {
            by,
            is_root: false,
            folder: package.folder.clone(),
            within: package.whole.clone(),
            dependencies: inner.dependencies,
        };
        Ok(Some((package, Some(visit))))
    }

    fn find(&self, choice: &Choice) -> Result<Option<Package>, ResolveError> {
        match &choice.source {
            Source::Path(path) => self.find_path(choice, path),
            _ => self.find_remote(choice),
        }
    }

    fn find_path(&self, choice: &Choice, path: &str) -> Result<Option<Package>, ResolveError> {
        let system = self.request.system;
        let folder = system.canonicalize(&choice.folder.join(path));
        let Some(folder) = folder.ok().filter(|folder| system.is_dir(folder)) else {
            return Ok(None);
        };
        if let Some(within) = &choice.within {
            let within = system.canonicalize(within).unwrap_or_else(|_| within.clone());
            if !folder.starts_with(&within) {
                let (by, name) = (choice.by.clone(), choice.name.clone());
                return Err(ResolveError::PathLeadsOut { by, name, path: path.to_owned() });
            }
        }
        Ok(Some(Package {
            name: choice.name.clone(),
            version: String::new(),
            folder,
            origin: Origin::Path,
            dependencies: Vec::new(),
            whole: choice.within.clone(),
            locked: None,
        }))
    }

    fn find_remote(&self, choice: &Choice) -> Result<Option<Package>, ResolveError> {
        let Request { provider, update, .. } = self.request;
        if !is_safe_word(&choice.name) {
            return Err(ResolveError::Name(choice.name.clone()));
        }
        let renew = update.includes(&choice.name) && provider.is_some();
        let locked = self.lock.as_ref().and_then(|lock| lock.get(&choice.name));
        let locked = locked.filter(|it| !renew && choice.is_recorded_as(it));
        if provider.is_some_and(Provider::is_locked) && locked.is_none() {
            return Err(ResolveError::NotLocked(choice.name.clone()));
        }
        if !renew && let Some(package) = self.find_on_disk(choice, locked)? {
            return Ok(Some(package));
        }
        let Some(provider) = provider else { return Ok(None) };
        let wanted = Wanted { name: &choice.name, origin: &choice.origin, locked, renew };
        let fetched = provider.fetch(&wanted).map_err(ResolveError::Fetch)?;
        let Fetched { folder, whole, sums, resolved } = fetched;
        let locked =
            locked.cloned().unwrap_or_else(|| choice.lock(sums.sum, sums.digest, resolved));
        Ok(Some(choice.package(folder, whole, Some(locked))))
    }

    /// Looks for a package in `vendor`, in the store and at home.
    fn find_on_disk(
        &self,
        choice: &Choice,
        locked: Option<&Locked>,
    ) -> Result<Option<Package>, ResolveError> {
        let Request { system, root, provider, use_vendor, .. } = self.request;
        let check = |locked: &Locked, folder: &Path, whole: &Path| {
            verify(system, locked, folder, whole).map_err(ResolveError::Verify)
        };
        let stored = locked.and_then(|it| find_stored(system, it.digest.as_deref()?));
        let vendor = use_vendor.then(|| root.join("vendor"));
        let named = find_named(system, vendor, &choice.name, choice.word());
        let is_vendored = named.as_ref().is_some_and(|it| it.starts_with(root.join("vendor")));
        if let (Some(whole), Some(locked), false) = (&stored, locked, is_vendored) {
            let folder = match choice.part() {
                Some(part) => package_folder(system, whole, part),
                None => Some(whole.clone()),
            };
            let Some(folder) = folder else { return Ok(None) };
            check(locked, &folder, whole)?;
            return Ok(Some(choice.package(folder, whole.clone(), Some(locked.clone()))));
        }
        let Some(whole) = named else { return Ok(None) };
        let folder = match choice.part() {
            Some(part) => package_folder(system, &whole, part).unwrap_or_else(|| whole.clone()),
            None => whole.clone(),
        };
        if let Some(locked) = locked {
            match check(locked, &folder, &whole) {
                // Another program may have put it there: the provider has the right one.
                Err(_) if !is_vendored && provider.is_some() && locked.digest.is_some() => {
                    return Ok(None);
                }
                result => result?,
            }
        }
        Ok(Some(choice.package(folder, whole, locked.cloned())))
    }

    /// Puts the lock file together, and compares it with the one on disk.
    fn finish(&self, resolution: &mut Resolution) -> Result<(), ResolveError> {
        let Request { system, provider, .. } = self.request;
        let Some(provider) = provider else { return Ok(()) };
        let mut packages = Vec::new();
        for package in &resolution.packages {
            packages.push(match &package.locked {
                Some(locked) => locked.clone(),
                None => package.record(system)?,
            });
        }
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        let is_local = packages.iter().all(|it| it.origin == Origin::Path);
        resolution.lock = LockFile { packages };
        let old = self.lock.clone().unwrap_or_default();
        // A module that only uses folders needs no lock file.
        let is_new = self.lock.is_none() && is_local;
        resolution.lock_changed = !is_new && old != resolution.lock;
        if resolution.lock_changed && provider.is_locked() {
            let names = changed_names(&old, &resolution.lock);
            return Err(ResolveError::NotLocked(names));
        }
        Ok(())
    }
}

/// Returns the names of packages whose entries differ.
fn changed_names(old: &LockFile, new: &LockFile) -> String {
    let differs = |a: &LockFile, b: &LockFile| -> Vec<String> {
        let changed = a.packages.iter().filter(|it| b.get(&it.name) != Some(it));
        changed.map(|it| it.name.clone()).collect()
    };
    let mut names = differs(new, old);
    names.extend(differs(old, new));
    names.sort();
    names.dedup();
    names.join("`, `")
}

impl Package {
    /// Makes the entry of the lock file for a package that was on disk already.
    fn record(&self, system: &dyn System) -> Result<Locked, ResolveError> {
        let mut locked = Locked {
            name: self.name.clone(),
            version: self.version.clone(),
            sum: String::new(),
            digest: None,
            origin: self.origin.clone(),
        };
        if let (Some(whole), false) = (&self.whole, self.origin == Origin::Path) {
            let failed = |error| ResolveError::Sum(self.name.clone(), error);
            let part = sums(system, &self.folder).map_err(failed)?;
            let all = if *whole == self.folder {
                part.clone()
            } else {
                sums(system, whole).map_err(failed)?
            };
            locked.sum = part.sum;
            locked.digest = Some(all.digest);
        }
        Ok(locked)
    }

    /// Returns the name of the folder of the package: `NAME_VERSION`.
    pub fn full_name(&self) -> String {
        full_name(&self.name, &self.version)
    }

    /// Returns the folder of the whole download, which is larger than that of the package if it is a
    /// part of a repository; that of the package for a path.
    pub fn whole(&self) -> &Path {
        self.whole.as_deref().unwrap_or(&self.folder)
    }

    /// Returns what the lock file records.
    pub fn locked(&self) -> Option<&Locked> {
        self.locked.as_ref()
    }
}

#[cfg(test)]
mod tests;
