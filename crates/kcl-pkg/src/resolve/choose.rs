//! One source and version out of all that modules ask for.

use super::{Demand, Package, Request, ResolveError};
use crate::lock_file::{LockFile, Locked, Origin};
use crate::requirement::{Requirement, newest};
use crate::source::{GitReference, Repository, Source};
use std::path::PathBuf;

/// What was chosen of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) name: String,
    /// Who asked for it first, and where paths start.
    pub(super) by: String,
    pub(super) folder: PathBuf,
    pub(super) within: Option<PathBuf>,
    /// What was asked for first.
    pub(super) source: Source,
    pub(super) version: String,
    pub(super) origin: Origin,
}

/// Chooses a source and a version. If `prefers_locked`, the version of the lock file is taken, if it
/// serves all demands so far: most often it is the one that all demands lead to.
pub(super) fn choose(
    request: Request<'_>,
    lock: Option<&LockFile>,
    demands: &[Demand],
    prefers_locked: bool,
) -> Result<Choice, ResolveError> {
    let Some(first) = demands.first() else { return Err(ResolveError::TooManyRounds) };
    let (version, origin) = match &first.source {
        Source::Path(_) => (String::new(), Origin::Path),
        Source::Git { url, reference, package } => {
            if first.within.is_some() && url.starts_with("file:") {
                let reason = "a downloaded package cannot name a repository of this machine";
                return Err(invalid(first, reason.to_owned()));
            }
            let is_other = |it: &Demand| it.source != first.source;
            if !first.is_root && demands.iter().any(is_other) {
                return Err(conflict(first, demands));
            }
            let version = reference.as_ref().map(GitReference::word).unwrap_or_default();
            let (url, reference, package) = (url.clone(), reference.clone(), package.clone());
            (version.to_owned(), Origin::Git { url, reference, resolved: None, package })
        }
        Source::Registry(_) | Source::Oci { .. } => {
            choose_version(request, lock, first, demands, prefers_locked)?
        }
    };
    Ok(Choice {
        name: first.name.clone(),
        by: first.by.clone(),
        folder: first.folder.clone(),
        within: first.within.clone(),
        source: first.source.clone(),
        version,
        origin,
    })
}

fn conflict(first: &Demand, demands: &[Demand]) -> ResolveError {
    ResolveError::Conflict { name: first.name.clone(), demands: demands.to_vec() }
}

fn invalid(demand: &Demand, reason: String) -> ResolveError {
    ResolveError::Invalid { name: demand.name.clone(), by: demand.by.clone(), reason }
}

fn choose_version(
    request: Request<'_>,
    lock: Option<&LockFile>,
    first: &Demand,
    demands: &[Demand],
    prefers_locked: bool,
) -> Result<(String, Origin), ResolveError> {
    let system = request.system;
    let repository_of = |demand: &Demand| {
        let found = demand.source.repository(system, &demand.name).transpose();
        found.map_err(|reason| invalid(demand, reason))
    };
    let Some(repository) = repository_of(first)? else { return Err(conflict(first, demands)) };
    let mut requirements = Vec::new();
    for demand in demands {
        if repository_of(demand)?.as_ref() == Some(&repository) {
            let text = demand.source.word().unwrap_or_default();
            let requirement = Requirement::parse(text).map_err(|reason| invalid(demand, reason))?;
            requirements.push(requirement);
        } else if !first.is_root {
            return Err(conflict(first, demands));
        }
    }
    let locked = lock.and_then(|lock| lock.get(&first.name)).filter(|it| {
        let is_kept = request.provider.is_none() || !request.update.includes(&first.name);
        is_kept && it.is_for(&first.source, Some(&repository), system)
    });
    let serves = |it: &&Locked| requirements.iter().all(|one| one.allows(&it.version));
    let version = match locked.filter(serves) {
        Some(locked) if prefers_locked => locked.version.clone(),
        locked => select(request, &repository, &requirements, locked)
            .map_err(ResolveError::Fetch)?
            .ok_or_else(|| conflict(first, demands))?,
    };
    let Repository { registry, path } = repository;
    Ok((version.clone(), Origin::Oci { registry: Some(registry), path, tag: version }))
}

/// Selects the version: the highest that is asked for, or, of ranges, the locked or newest one. What
/// is locked serves all.
/// `None` if no version serves all.
fn select(
    request: Request<'_>,
    repository: &Repository,
    requirements: &[Requirement],
    locked: Option<&Locked>,
) -> Result<Option<String>, String> {
    let serves = |tag: &str| requirements.iter().all(|it| it.allows(tag));
    let tag = requirements.iter().find_map(|it| match it {
        Requirement::Tag(tag) => Some(tag),
        _ => None,
    });
    let versions = requirements.iter().filter_map(|it| match it {
        Requirement::Version(text, version) => Some((version, text)),
        _ => None,
    });
    // Of equal ones, the first.
    let highest = versions.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, text)| text);
    if let Some(tag) = tag.or(highest) {
        let has_range = requirements.iter().any(|it| matches!(it, Requirement::Range(..)));
        if serves(tag) {
            return Ok(Some(tag.clone()));
        }
        if !has_range {
            return Ok(None);
        }
    }
    if let Some(locked) = locked {
        return Ok(Some(locked.version.clone()));
    }
    let Some(provider) = request.provider else { return Ok(Some(String::new())) };
    let tags = provider.versions(repository)?;
    let found = newest(tags.iter().map(String::as_str).filter(|tag| serves(tag)));
    let found = found.or_else(|| tags.iter().map(String::as_str).find(|tag| serves(tag)));
    Ok(found.map(str::to_owned))
}

impl Choice {
    /// Returns the word behind the name of the package in the name of its folder.
    pub(super) fn word(&self) -> Option<&str> {
        Some(self.version.as_str()).filter(|it| !it.is_empty()).or_else(|| self.source.word())
    }

    /// Returns the part of a Git repository that is the package.
    pub(super) fn part(&self) -> Option<&str> {
        match &self.origin {
            Origin::Git { package, .. } => package.as_deref(),
            _ => None,
        }
    }

    /// Returns whether an entry of the lock file is about this choice.
    pub(super) fn is_recorded_as(&self, locked: &Locked) -> bool {
        match (&self.origin, &locked.origin) {
            (
                Origin::Oci { registry, path, tag },
                Origin::Oci { registry: known, path: known_path, tag: known_tag },
            ) => {
                let is_same = known.is_none() || registry == known;
                // Without a provider, ranges are what the lock file says.
                is_same && path == known_path && (tag == known_tag || tag.is_empty())
            }
            (
                Origin::Git { url, reference, package, .. },
                Origin::Git { url: known, reference: point, package: part, .. },
            ) => url == known && reference == point && package == part,
            _ => false,
        }
    }

    /// Makes the entry of the lock file.
    pub(super) fn lock(&self, sum: String, digest: String, commit: Option<String>) -> Locked {
        let mut origin = self.origin.clone();
        if let Origin::Git { resolved, .. } = &mut origin {
            *resolved = commit;
        }
        let (name, version) = (self.name.clone(), self.version.clone());
        Locked { name, version, sum, digest: Some(digest), origin }
    }

    /// Makes the package with its folder.
    pub(super) fn package(
        &self,
        folder: PathBuf,
        whole: PathBuf,
        locked: Option<Locked>,
    ) -> Package {
        Package {
            name: self.name.clone(),
            version: self.version.clone(),
            folder,
            origin: self.origin.clone(),
            dependencies: Vec::new(),
            whole: Some(whole),
            locked,
        }
    }
}
