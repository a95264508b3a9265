//! Providers that resources need, and the versions of them that are locked.

use super::{Constraints, Installed, Lock, Locked, Mirror, Verified, parse_version, platform};
use crate::address::{ProviderAddress, Reference};
use kusion_model::Resource;
use semver::Version;
use std::collections::BTreeMap;

/// A provider that resources need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderRequirement {
    /// Its address.
    pub address: ProviderAddress,
    /// The constraints of its version, of all resources.
    pub constraints: Constraints,
}

/// Returns the providers that resources need, each once, sorted.
///
/// # Errors
///
/// The extensions of a resource name no provider; the message names the resource.
pub fn requirements<'a>(
    resources: impl IntoIterator<Item = &'a Resource>,
) -> Result<Vec<ProviderRequirement>, String> {
    let mut found: BTreeMap<ProviderAddress, Vec<String>> = BTreeMap::new();
    for resource in resources {
        let reference =
            Reference::of(resource).map_err(|message| format!("`{}`: {message}", resource.id))?;
        let texts = found.entry(reference.address).or_default();
        for text in reference.version.split(',').map(|it| it.trim().to_owned()) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    let requirement = |(address, mut texts): (ProviderAddress, Vec<String>)| {
        texts.sort();
        let constraints = Constraints::parse(&texts.join(", "))?;
        Ok(ProviderRequirement { address, constraints })
    };
    found.into_iter().map(requirement).collect()
}

/// How a version is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockPolicy {
    /// Whether the newest version is chosen, even if another one is locked.
    pub upgrade: bool,
    /// Whether a locked version may get more checksums, such as that of another platform.
    pub accept: bool,
}

/// Returns the newest version of a provider that folders have and constraints allow.
pub fn newest(mirrors: &[Mirror], requirement: &ProviderRequirement) -> Option<Version> {
    let versions = mirrors.iter().flat_map(|it| it.versions(&requirement.address));
    let versions = versions.filter_map(|it| parse_version(&it));
    versions.filter(|it| requirement.constraints.allow(it)).max()
}

/// Finds a version of a provider in folders, searched in order.
///
/// # Errors
///
/// A folder of that version has no program.
pub fn find_installed(
    mirrors: &[Mirror],
    address: &ProviderAddress,
    version: &str,
) -> Result<Option<Installed>, String> {
    for mirror in mirrors {
        if let Some(found) = mirror.find(address, version)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Locks an installed version of a provider: the one that is locked already if it is still allowed,
/// otherwise the newest one. Returns whether the lock changed.
///
/// # Errors
///
/// No installed version fits, or it has another checksum than the locked one.
pub fn lock_installed(
    lock: &mut Lock,
    requirement: &ProviderRequirement,
    mirrors: &[Mirror],
    verified: &Verified,
    options: LockPolicy,
) -> Result<bool, String> {
    let ProviderRequirement { address, constraints } = requirement;
    let before = lock.get(address).cloned();
    let is_allowed = |it: &&Locked| {
        parse_version(&it.version).is_some_and(|version| constraints.allow(&version))
    };
    let kept = before.as_ref().filter(|_| !options.upgrade).filter(is_allowed);
    let version = match kept {
        Some(locked) => locked.version.clone(),
        None => newest(mirrors, requirement)
            .ok_or_else(|| missing(mirrors, address, &constraints.to_string()))?
            .to_string(),
    };
    let installed = find_installed(mirrors, address, &version)?
        .ok_or_else(|| missing(mirrors, address, &version))?;
    let hash = verified.hash(&installed.folder)?;
    let known = before.as_ref().filter(|it| it.version == version);
    let mut locked = Locked { version, constraints: constraints.to_string(), hashes: Vec::new() };
    if let Some(known) = known {
        if !known.allows(&hash) && !known.hashes.is_empty() && !options.accept {
            return Err(format!(
                "{} has the checksum {hash}, which is not in the lock file; it was changed, or comes \
                 from elsewhere, or the lock file is for other platforms (`--accept` adds the \
                 checksum)",
                installed.folder.display()
            ));
        }
        locked.hashes.clone_from(&known.hashes);
    }
    locked.hashes.push(hash);
    lock.insert(address.clone(), locked);
    Ok(lock.get(address) != before.as_ref())
}

fn missing(mirrors: &[Mirror], address: &ProviderAddress, requested: &str) -> String {
    let folders: Vec<String> = mirrors.iter().map(|it| it.0.display().to_string()).collect();
    let others: Vec<String> = mirrors.iter().flat_map(|it| it.versions(address)).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!("; installed versions: {}", others.join(", ")),
    };
    format!(
        "`{address}`, version `{requested}`, for {} is not installed (looked in {}){others}",
        platform(),
        folders.join(", ")
    )
}
