//! Checksums of installed providers.

use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The greatest number of files of a provider; they have one to five.
const MAX_FILES: usize = 10_000;

/// Returns the checksum of a folder in the form of lock files, `h1:…`: over the names and checksums
/// of all files below it, in order of their names.
pub fn folder_hash(folder: &Path) -> io::Result<String> {
    let mut names = Vec::new();
    add_names(folder, "", &mut names)?;
    names.sort();
    let mut all = Sha256::new();
    for name in names {
        let mut hash = Sha256::new();
        io::copy(&mut File::open(folder.join(&name))?, &mut Writer(&mut hash))?;
        all.update(format!("{}  {name}\n", HEXLOWER.encode(&hash.finalize())));
    }
    Ok(format!("h1:{}", BASE64.encode(&all.finalize())))
}

struct Writer<'a>(&'a mut Sha256);

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn add_names(folder: &Path, before: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(before))? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().filter(|it| !it.contains('\n'));
        let name = name.ok_or_else(|| io::Error::other("a file has an invalid name"))?;
        let name = if before.is_empty() { name.to_owned() } else { format!("{before}/{name}") };
        // What a link leads to counts.
        if fs::metadata(entry.path())?.is_dir() {
            add_names(folder, &name, names)?;
        } else {
            names.push(name);
        }
        if names.len() > MAX_FILES {
            return Err(io::Error::other(format!("it has more than {MAX_FILES} files")));
        }
    }
    Ok(())
}
