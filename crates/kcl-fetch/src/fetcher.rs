//! Gets packages for the resolution of dependencies.

use crate::archive::unpack;
use crate::credentials::Credentials;
use crate::error::FetchError;
use crate::git::{self, GitSource};
use crate::location::Location;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::store::{Record, Store};
use base_system::{OsSystem, System};
use kcl_pkg::{
    Fetched, GitReference, Locked, Origin, Provider, Repository, Requirement, Source, Sums, Wanted,
    newest, package_folder, store_home, sums,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a [`Fetcher`] may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchOptions {
    /// Whether the network must not be used.
    pub offline: bool,
    /// Whether the lock file must be complete, and stays as it is.
    pub locked: bool,
}

/// Downloads packages into the folder of the user.
#[derive(Debug)]
pub struct Fetcher {
    options: FetchOptions,
    store: Option<Store>,
    /// The folder of downloaded packages, in which no lock files are written.
    home: Option<PathBuf>,
    registry: Registry,
    progress: Arc<dyn Progress>,
}

impl Fetcher {
    /// Makes a fetcher. Nothing is read or written before it is asked for a package.
    pub fn new(system: &dyn System, options: FetchOptions, progress: Arc<dyn Progress>) -> Self {
        let home = store_home(system);
        Self {
            options,
            store: home.clone().map(Store::new),
            home,
            registry: Registry::new(Credentials::from_env(system), Arc::clone(&progress)),
            progress,
        }
    }

    /// Returns the folder of a package, downloaded if needed.
    pub fn get(&self, wanted: &Wanted<'_>) -> Result<Fetched, FetchError> {
        let source = Remote::new(wanted)?;
        let store = self.store.as_ref().ok_or_else(|| {
            FetchError::refused(source.what(), "neither KCL_PKG_PATH nor HOME is set")
        })?;
        let key = source.key();
        let _lock = store.lock(&key)?;
        let known = store.record(&key).filter(|it| !wanted.renew && may_use(it, wanted.locked));
        let (whole, found, resolved) = match known {
            Some(Record { digest, resolved }) => {
                let folder = store.package(&digest);
                let found = Store::check(&folder, &digest)?;
                (folder, found, resolved)
            }
            None if self.options.offline => {
                return Err(FetchError::Offline { what: source.what() });
            }
            None => self.download(store, &source, wanted)?,
        };
        let (folder, part) = part_of(&whole, wanted, &found)?;
        check_locked(&source, wanted, &part, &found, &resolved)?;
        let sums = Sums { digest: found.digest, ..part };
        let resolved = Some(resolved).filter(|it| !it.is_empty());
        Ok(Fetched { folder, whole, sums, resolved })
    }

    /// Returns the folder and the version of a package that is named on the command line; without
    /// a version, of the newest one.
    pub fn get_location(&self, location: &Location) -> Result<(Fetched, String), FetchError> {
        let name = location.name.as_str();
        let invalid = |why: String| FetchError::refused(name, why);
        // A branch, or the newest version, may be another one than last time.
        let mut is_fixed = true;
        let (origin, version) = match &location.source {
            Source::Path(_) => return Err(FetchError::refused(name, "a path is not downloaded")),
            Source::Git { url, reference, package } => {
                is_fixed =
                    matches!(reference, Some(GitReference::Tag(_) | GitReference::Commit(_)));
                let version = reference.as_ref().map(|it| it.word().to_owned());
                let (url, reference, package) = (url.clone(), reference.clone(), package.clone());
                let origin = Origin::Git { url, reference, resolved: None, package };
                (origin, version.unwrap_or_default())
            }
            Source::Registry(word) | Source::Oci { tag: word, .. } => {
                let repository = location.source.repository(&OsSystem, name);
                let repository = repository.unwrap_or_else(|| Repository::parse(""));
                let repository = repository.map_err(invalid)?;
                let tag = self.newest(&repository, word)?;
                let Repository { registry, path } = repository;
                (Origin::Oci { registry: Some(registry), path, tag: tag.clone() }, tag)
            }
        };
        let renew = !is_fixed && !self.options.offline;
        let wanted = Wanted { name, origin: &origin, locked: None, renew };
        Ok((self.get(&wanted)?, version))
    }

    /// Returns the tag for a version: the newest one of a range, or of all if nothing is said.
    pub fn newest(&self, repository: &Repository, word: &str) -> Result<String, FetchError> {
        let what = repository.to_string();
        let requirement = Requirement::parse(word);
        let requirement = requirement.map_err(|why| FetchError::refused(&what, why))?;
        if let Requirement::Version(text, _) | Requirement::Tag(text) = requirement {
            return Ok(text);
        }
        if self.options.offline {
            return Err(FetchError::Offline { what: format!("the list of versions of {what}") });
        }
        let tags = self.registry.tags(repository)?;
        let found = newest(tags.iter().map(String::as_str).filter(|it| requirement.allows(it)));
        let found = found.or_else(|| tags.first().map(String::as_str));
        found.map(str::to_owned).ok_or_else(|| FetchError::refused(what, "it has no versions"))
    }

    fn download(
        &self,
        store: &Store,
        source: &Remote<'_>,
        wanted: &Wanted<'_>,
    ) -> Result<(PathBuf, Sums, String), FetchError> {
        let temporary = store.temporary()?;
        let target = temporary.path.join("package");
        fs::create_dir(&target).map_err(FetchError::file("create", &target))?;
        let what = source.what();
        let resolved = match source {
            Remote::Oci { repository, tag } => {
                let archive = temporary.path.join("archive");
                self.registry.pull(repository, tag, &archive)?;
                unpack(&archive, &target, &what)?;
                String::new()
            }
            Remote::Git { url, reference } => {
                let locked = wanted.locked.and_then(|it| match &it.origin {
                    Origin::Git { resolved, .. } => resolved.as_deref(),
                    _ => None,
                });
                let source = GitSource { url, reference: *reference, locked };
                let repository = temporary.path.join("repository");
                git::fetch(&source, &repository, &target, &*self.progress)?
            }
        };
        let (folder, found) = store.keep(&target, &source.key(), &resolved)?;
        Ok((folder, found, resolved))
    }
}

impl Provider for Fetcher {
    fn versions(&self, repository: &Repository) -> Result<Vec<String>, String> {
        if self.options.offline {
            let what = format!("the list of versions of {repository}");
            return Err(FetchError::Offline { what }.to_string());
        }
        self.registry.tags(repository).map_err(|error| error.to_string())
    }

    fn fetch(&self, wanted: &Wanted<'_>) -> Result<Fetched, String> {
        self.get(wanted).map_err(|error| error.to_string())
    }

    fn is_locked(&self) -> bool {
        self.options.locked
    }

    fn may_write(&self, root: &Path) -> bool {
        let is_stored = self.home.as_ref().is_some_and(|home| root.starts_with(home));
        !self.options.locked && !is_stored
    }
}

/// A source of packages, at one version.
enum Remote<'r> {
    Oci { repository: Repository, tag: &'r str },
    Git { url: &'r str, reference: Option<&'r GitReference> },
}

impl<'r> Remote<'r> {
    fn new(wanted: &Wanted<'r>) -> Result<Self, FetchError> {
        match wanted.origin {
            Origin::Path => Err(FetchError::refused(wanted.name, "a path is not downloaded")),
            Origin::Git { url, reference, .. } => {
                Ok(Self::Git { url, reference: reference.as_ref() })
            }
            Origin::Oci { registry, path, tag } => {
                let url = format!("oci://{}/{path}", registry.as_deref().unwrap_or_default());
                let repository = Repository::parse(&url);
                let repository = repository.map_err(|why| FetchError::refused(wanted.name, why))?;
                Ok(Self::Oci { repository, tag })
            }
        }
    }

    /// Returns what users call the source.
    fn what(&self) -> String {
        match self {
            Self::Oci { repository, tag } => format!("{repository}:{tag}"),
            Self::Git { url, reference } => {
                let url = crate::http::shown(url);
                reference.map_or(url.clone(), |it| format!("{url} at {}", it.word()))
            }
        }
    }

    /// Returns a name that no other source has.
    fn key(&self) -> String {
        match self {
            Self::Oci { repository, tag } => format!("{repository}:{tag}"),
            Self::Git { url, reference } => {
                let (kind, word) = match reference {
                    Some(GitReference::Tag(word)) => ("tag", word.as_str()),
                    Some(GitReference::Branch(word)) => ("branch", word.as_str()),
                    Some(GitReference::Commit(word)) => ("commit", word.as_str()),
                    None => ("head", ""),
                };
                format!("git {url} {kind} {word}").replace('\n', " ")
            }
        }
    }
}

/// Whether a package that was downloaded earlier is the one that the lock file records.
fn may_use(record: &Record, locked: Option<&Locked>) -> bool {
    // The reference's sum is compared when it is computed.
    let digest = locked.and_then(|it| it.digest.as_ref());
    digest.is_none_or(|it| *it == record.digest)
}

/// Returns the folder of the package in a download, and its checksums.
fn part_of(whole: &Path, wanted: &Wanted<'_>, found: &Sums) -> Result<(PathBuf, Sums), FetchError> {
    let Origin::Git { package: Some(package), .. } = wanted.origin else {
        return Ok((whole.to_owned(), found.clone()));
    };
    let folder = package_folder(&OsSystem, whole, package).ok_or_else(|| {
        FetchError::refused(wanted.name, format!("the repository has no package `{package}`"))
    })?;
    let part = sums(&OsSystem, &folder)
        .map_err(|error| FetchError::refused(wanted.name, error.to_string()))?;
    Ok((folder, part))
}

/// Refuses a source that has another content than the lock file records.
fn check_locked(
    source: &Remote<'_>,
    wanted: &Wanted<'_>,
    part: &Sums,
    found: &Sums,
    resolved: &str,
) -> Result<(), FetchError> {
    let Some(locked) = wanted.locked else { return Ok(()) };
    let changed = |recorded: &str, found: &str| {
        let (what, name) = (source.what(), wanted.name.to_owned());
        let (recorded, found) = (recorded.to_owned(), found.to_owned());
        Err(FetchError::Changed { what, name, recorded, found })
    };
    if let Origin::Git { resolved: Some(commit), .. } = &locked.origin
        && commit != resolved
    {
        return changed(&format!("commit {commit}"), &format!("commit {resolved}"));
    }
    match &locked.digest {
        Some(digest) if *digest != found.digest => changed(digest, &found.digest),
        None if !locked.sum.is_empty() && locked.sum != part.sum => changed(&locked.sum, &part.sum),
        _ => Ok(()),
    }
}
