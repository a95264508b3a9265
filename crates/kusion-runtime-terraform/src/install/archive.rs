//! Archives of providers: checksums, and unpacking.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// The greatest number of files in an archive; there are one to five.
const MAX_FILES: usize = 1_000;

/// The most bytes of all files of an archive.
const MAX_BYTES: u64 = 2 << 30;

/// Returns the checksum of an archive in the form of lock files, `zh:…`.
pub fn archive_hash(archive: &Path) -> io::Result<String> {
    let mut file = File::open(archive)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    Ok(format!("zh:{}", HEXLOWER.encode(&hash.finalize())))
}

/// Unpacks an archive into a folder, which must not exist. If that fails, the folder does not exist
/// afterwards.
///
/// # Errors
///
/// The archive is damaged, too large, or has files that would be elsewhere.
pub fn unpack(archive: &Path, folder: &Path) -> Result<(), String> {
    let fail =
        |error: &dyn std::fmt::Display| format!("cannot unpack {}: {error}", archive.display());
    let name = folder.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let new = folder.with_file_name(format!(".{name}-{}", std::process::id()));
    let unpacked = fs::create_dir_all(&new)
        .map_err(|error| fail(&error))
        .and_then(|()| unpack_files(archive, &new).map_err(|error| fail(&error)))
        .and_then(|()| fs::rename(&new, folder).map_err(|error| fail(&error)));
    if unpacked.is_err() {
        // What failed counts.
        let _ = fs::remove_dir_all(&new);
    }
    unpacked
}

fn unpack_files(archive: &Path, folder: &Path) -> io::Result<()> {
    let mut archive = ZipArchive::new(File::open(archive)?).map_err(io::Error::other)?;
    if archive.len() > MAX_FILES {
        return Err(io::Error::other(format!("it has more than {MAX_FILES} files")));
    }
    let mut left = MAX_BYTES;
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(io::Error::other)?;
        if file.is_dir() {
            continue;
        }
        let path: PathBuf = match file.enclosed_name() {
            Some(path) if file.is_file() && Path::new(file.name()).is_relative() => {
                folder.join(path)
            }
            _ => {
                let name = file.name().escape_debug().to_string();
                return Err(io::Error::other(format!("it has an invalid file `{name}`")));
            }
        };
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let is_program = path
            .file_name()
            .is_some_and(|it| it.to_string_lossy().starts_with("terraform-provider-"));
        let mode = if is_program { 0o755 } else { 0o644 };
        let mut out = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        let written = io::copy(&mut (&mut file).take(left + 1), &mut out)?;
        left = left.checked_sub(written).ok_or_else(|| {
            io::Error::other(format!("its files have more than {MAX_BYTES} bytes"))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use zip::write::SimpleFileOptions;

    fn folder(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("kusion-archive-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        path
    }

    fn archive(path: &Path, files: &[(&str, &str)]) {
        let mut archive = zip::ZipWriter::new(File::create(path).expect("a file"));
        for (name, text) in files {
            archive.start_file(*name, SimpleFileOptions::default()).expect("an entry");
            archive.write_all(text.as_bytes()).expect("a text");
        }
        archive.finish().expect("an archive");
    }

    #[test]
    fn files_are_unpacked_and_programs_can_run() {
        use std::os::unix::fs::PermissionsExt as _;
        let work = folder("good");
        let file = work.join("a.zip");
        archive(&file, &[("terraform-provider-a_v1", "program"), ("LICENSE", "text")]);
        unpack(&file, &work.join("out")).expect("it is unpacked");
        let program = work.join("out/terraform-provider-a_v1");
        assert_eq!(fs::read_to_string(&program).expect("a file"), "program");
        assert_eq!(fs::metadata(&program).expect("a file").permissions().mode() & 0o111, 0o111);
        assert!(archive_hash(&file).expect("a hash").starts_with("zh:"));
        fs::remove_dir_all(work).expect("removed");
    }

    #[test]
    fn nothing_is_written_elsewhere() {
        let work = folder("bad");
        let file = work.join("a.zip");
        for name in ["../outside", "/outside", "a/../../outside"] {
            archive(&file, &[("good", "1"), (name, "2")]);
            let error = unpack(&file, &work.join("out")).expect_err(name);
            assert!(error.contains("invalid file"), "{name}: {error}");
            assert!(!work.join("out").exists() && !work.join("outside").exists(), "{name}");
        }
        fs::write(&file, "not an archive").expect("a file");
        assert!(unpack(&file, &work.join("out")).is_err());
        fs::remove_dir_all(work).expect("removed");
    }
}
