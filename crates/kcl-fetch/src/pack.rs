//! Makes the archive of a package.

use crate::archive::{MAX_ENTRIES, MAX_SIZE, unpack};
use crate::error::FetchError;
use crate::store::Temporary;
use base_system::OsSystem;
use glob::{MatchOptions, Pattern};
use kcl_pkg::{MOD_FILE, ModFile, read_mod_file, sums};
use std::fs;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};
use thiserror::Error;

/// A package as it is pushed.
#[derive(Clone, Debug)]
pub struct PackedPackage {
    /// `package.name`
    pub name: String,
    /// `package.version`
    pub version: String,
    /// `NAME_VERSION.tar`
    pub file_name: String,
    /// The archive.
    pub bytes: Vec<u8>,
    /// What the registry shows about the package.
    pub annotations: Vec<(String, String)>,
}

/// Why a package cannot be packed.
#[derive(Debug, Error)]
pub enum PackError {
    /// The folder is not a package with name and version.
    #[error("{0}")]
    Module(String),
    /// A pattern of `include` or `exclude` is not valid.
    #[error("invalid pattern `{pattern}` in kcl.mod: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        reason: String,
    },
    /// A file cannot be used.
    #[error("{0}")]
    File(FetchError),
}

/// Packs a folder: the same files give the same bytes.
pub fn pack(folder: &Path, with_vendor: bool) -> Result<PackedPackage, PackError> {
    let mod_file = read_mod_file(&OsSystem, folder);
    let mod_file = mod_file.map_err(|error| PackError::Module(error.to_string()))?;
    let Some(mod_file) = mod_file else {
        let folder = folder.display();
        return Err(PackError::Module(format!("`{folder}` has no {MOD_FILE}; run `kcl mod init`")));
    };
    let field = |value: &Option<String>, name: &str| {
        let value = value.clone().filter(|it| kcl_pkg::is_safe_word(it));
        let missing =
            || PackError::Module(format!("{MOD_FILE} has no valid `{name}` in [package]"));
        value.ok_or_else(missing)
    };
    let (name, version) = (field(&mod_file.name, "name")?, field(&mod_file.version, "version")?);
    let files = files(folder, &mod_file, with_vendor)?;
    let bytes = archive(folder, &files).map_err(PackError::File)?;
    let sum = sum_of(&bytes, &name).map_err(PackError::File)?;
    let label = |key: &str, value: &str| (format!("org.kcllang.package.{key}"), value.to_owned());
    let annotations = vec![
        label("name", &name),
        label("version", &version),
        label("description", mod_file.description.as_deref().unwrap_or_default()),
        label("sum", &sum),
    ];
    let file_name = format!("{name}_{version}.tar");
    Ok(PackedPackage { name, version, file_name, bytes, annotations })
}

/// Lists the files of a package, as paths in it with `/`.
fn files(root: &Path, mod_file: &ModFile, with_vendor: bool) -> Result<Vec<String>, PackError> {
    let patterns = |list: &[String]| {
        let read = |text: &String| {
            let error = |error: glob::PatternError| PackError::Pattern {
                pattern: text.clone(),
                reason: error.msg.to_owned(),
            };
            Pattern::new(text.trim_start_matches("./")).map_err(error)
        };
        list.iter().map(read).collect::<Result<Vec<_>, _>>()
    };
    let (include, exclude) = (patterns(&mod_file.include)?, patterns(&mod_file.exclude)?);
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
    let matches =
        |list: &[Pattern], name: &str| list.iter().any(|it| it.matches_with(name, options));
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error| PackError::File(FetchError::file("read", &folder)(error));
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry
                .map_err(|error| PackError::File(FetchError::file("read", &folder)(error)))?
                .path();
            let name =
                path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            let Ok(facts) = fs::symlink_metadata(&path) else { continue };
            if facts.is_dir() {
                let is_left_out = name == ".git" || (name == "vendor" && !with_vendor);
                if !is_left_out && !matches(&exclude, &name) {
                    folders.push(path);
                }
            } else if facts.is_file() {
                let is_taken = include.is_empty() || matches(&include, &name) || name == MOD_FILE;
                let is_left_out =
                    matches(&exclude, &name) || path.extension().is_some_and(|it| it == "tar");
                if is_taken && !is_left_out {
                    found.push(name);
                }
            }
        }
        if found.len() > MAX_ENTRIES {
            let why = format!("it has more than {MAX_ENTRIES} files");
            return Err(PackError::File(FetchError::refused("the package", why)));
        }
    }
    found.sort();
    Ok(found)
}

/// Makes an archive without owners and times.
fn archive(root: &Path, files: &[String]) -> Result<Vec<u8>, FetchError> {
    let mut builder = Builder::new(Vec::new());
    let mut size = 0;
    for name in files {
        let path = root.join(name);
        let bytes = fs::read(&path).map_err(FetchError::file("read", &path))?;
        size += bytes.len() as u64;
        if size > MAX_SIZE {
            return Err(FetchError::refused("the package", format!("more than {MAX_SIZE} bytes")));
        }
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        header.set_mtime(0);
        let added = builder.append_data(&mut header, name, bytes.as_slice());
        added.map_err(FetchError::file("pack", &path))?;
    }
    builder.into_inner().map_err(FetchError::file("pack", root))
}

/// Computes the reference's sum of the unpacked archive, which also checks that it can be unpacked.
fn sum_of(bytes: &[u8], name: &str) -> Result<String, FetchError> {
    let scratch = Temporary::new(&std::env::temp_dir())?;
    let target = scratch.path.join("package");
    fs::create_dir_all(&target).map_err(FetchError::file("create", &target))?;
    let file = scratch.path.join("archive");
    fs::write(&file, bytes).map_err(FetchError::file("write", &file))?;
    unpack(&file, &target, name)?;
    let found = sums(&OsSystem, &target);
    found.map(|it| it.sum).map_err(|error| FetchError::refused(name, error.to_string()))
}
