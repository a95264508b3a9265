//! Keeping the packages of a program for others.

use super::{
    CHECKED, FILES, INDEX, MIN_IN_MEMORY, PackageStore, Record, StoredPackage, content_key, lock,
    min_on_disk, place_key,
};
use crate::identity::{check_keys, open_packages};
use crate::index::{self, Index};
use crate::load::Known;
use crate::program::{Package, PackageId, Program};
use base_cache::{Key, Sealed, hash};
use base_system::{Metadata, System};
use std::path::PathBuf;
use std::sync::Arc;

impl PackageStore {
    /// Keeps the packages of a program that was loaded without findings and checked without
    /// errors.
    pub fn keep(&self, system: &dyn System, program: &Program, known: &Known) {
        let n_packages = program.packages.len();
        if !self.keeps() || n_packages < 2 || self.knows_all(system, program, known) {
            return;
        }
        let mut packages = vec![None];
        for at in 1..n_packages {
            packages.push(match known.package(PackageId(at as u32)) {
                Some(package) => Some(Hashed::Known(package.content)),
                None => self.hash_package(program, &program.packages[at]).map(Hashed::New),
            });
        }
        let contents: Vec<Option<Key>> =
            packages.iter().map(|package| package.as_ref().map(Hashed::content)).collect();
        if contents[1..].contains(&None) {
            return;
        }
        let Some(keys) = check_keys(program, &contents) else { return };
        let open = open_packages(program);
        let mut wrote = false;
        for (at, package) in packages.into_iter().enumerate().skip(1) {
            let id = PackageId(at as u32);
            if let Some(Hashed::New(package)) = package {
                if package.len < self.min_size() {
                    continue;
                }
                if self.keep_package(system, program, id, package).is_none() {
                    continue;
                }
                wrote = true;
            }
            if open.contains(&id) && !self.is_checked(system, &keys[at]) {
                lock(&self.checked).insert(keys[at]);
                if let Some(cache) = &self.cache {
                    cache.put(system, CHECKED, &keys[at], &keys[at].0);
                    wrote = true;
                }
            }
        }
        if let (Some(cache), true) = (&self.cache, wrote) {
            cache.trim(system);
        }
    }

    /// Whether there is nothing new to keep.
    fn knows_all(&self, system: &dyn System, program: &Program, known: &Known) -> bool {
        let is_new = |at: &u32| {
            let files = program.package(PackageId(*at)).files.iter();
            let len: u64 = files.map(|file| program.file(*file).text.len() as u64).sum();
            known.package(PackageId(*at)).is_none() && len >= self.min_size()
        };
        !(1..program.packages.len() as u32).any(|at| is_new(&at))
            && known.keys.iter().all(|key| self.is_checked(system, key))
    }

    fn min_size(&self) -> u64 {
        match &self.cache {
            Some(cache) => min_on_disk(cache),
            None => MIN_IN_MEMORY,
        }
    }

    fn hash_package(&self, program: &Program, package: &Package) -> Option<NewPackage> {
        let mut new = NewPackage::default();
        for id in &package.files {
            let file = program.file(*id);
            let path = PathBuf::from(&file.path);
            new.len += file.text.len() as u64;
            let seen = lock(&self.seen).get(&path).map(|seen| (seen.facts, seen.hash));
            let known = seen.and_then(|(_, hash)| hash);
            new.hashes.push(known.unwrap_or_else(|| hash(file.text.as_bytes())));
            new.facts.extend(seen.map(|(facts, _)| facts));
            new.files.push(path);
        }
        new.content = content_key(&new.files, &new.hashes)?;
        Some(new)
    }

    fn keep_package(
        &self,
        system: &dyn System,
        program: &Program,
        id: PackageId,
        new: NewPackage,
    ) -> Option<()> {
        let package = program.package(id);
        let place = place_key(&new.files)?;
        let bytes = index::build(program, package)?;
        if let Some(cache) = &self.cache
            && new.facts.len() == new.files.len()
        {
            cache.put(system, INDEX, &new.content, &bytes);
            let record = Record::new(self.began, &new.facts, &new.hashes);
            cache.put(system, FILES, &place, &record.encode());
        }
        if self.is_shared {
            let index = Index::open(Sealed::trusted(bytes))?;
            let stored = StoredPackage::new(index, new.content, new.hashes);
            for (at, file) in package.files.iter().enumerate() {
                let text = Arc::clone(&program.file(*file).text);
                lock(&stored.texts).insert(at as u32, text);
            }
            lock(&self.packages).insert(place, Arc::new(stored));
        }
        Some(())
    }
}

/// A package whose content is hashed.
enum Hashed {
    Known(Key),
    New(NewPackage),
}

impl Hashed {
    fn content(&self) -> Key {
        match self {
            Self::Known(content) => *content,
            Self::New(package) => package.content,
        }
    }
}

struct NewPackage {
    files: Vec<PathBuf>,
    facts: Vec<Metadata>,
    hashes: Vec<Key>,
    content: Key,
    /// The length of its text.
    len: u64,
}

impl Default for NewPackage {
    fn default() -> Self {
        let (files, facts, hashes) = (Vec::new(), Vec::new(), Vec::new());
        Self { files, facts, hashes, content: Key([0; 32]), len: 0 }
    }
}
