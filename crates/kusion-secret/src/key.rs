//! Sources of the encryption key.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the key is a file that only its owner may read"
)]

use crate::Sealer;
use base_system::{OsSystem, System as _};
use data_encoding::{
    BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE,
};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The environment variable with the key.
pub const KEY_VARIABLE: &str = "KUSION_KEY";
/// The name of the key file, which is used without the variable.
pub const KEY_FILE: &str = "key";

/// The error of a key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key is invalid.
    #[error("invalid key in {place}: expected 32 bytes in hexadecimal or base64")]
    Malformed {
        /// The variable or the file.
        place: String,
    },
    /// Other users can read the file.
    #[error(
        "other users of this machine can read the key file `{path}` (mode {mode:03o}); make it \
         private with `chmod 600 {path}`"
    )]
    Public {
        /// The file.
        path: String,
        /// Its permissions.
        mode: u32,
    },
    /// The file cannot be read or created.
    #[error("cannot use the key file `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// A key as text, for export and import.
pub struct KeyText([u8; 32]);

impl KeyText {
    /// Reads the current key; creates one on first use.
    pub fn open(variable: Option<&str>, home: &Path) -> Result<Self, KeyError> {
        find(variable, home).map(|(key, _)| Self(key))
    }

    /// Parses a key from text.
    pub fn parse(text: &str, place: &str) -> Result<Self, KeyError> {
        let malformed = || KeyError::Malformed { place: place.to_owned() };
        parse(text).map(Self).ok_or_else(malformed)
    }

    /// Returns the fingerprint of the key, which does not reveal the key.
    pub fn fingerprint(&self) -> String {
        Sealer::new(self.0, "").fingerprint().to_owned()
    }

    /// Returns the key itself, in hexadecimal.
    pub fn reveal(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Installs the key in a folder. The old key is kept in a file with its fingerprint; returns
    /// that file.
    pub fn install(&self, home: &Path) -> Result<Option<PathBuf>, KeyError> {
        let path = home.join(KEY_FILE);
        let failed = |source| KeyError::File { path: path.clone(), source };
        let old = match OsSystem.read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        if old.as_deref().and_then(parse) == Some(self.0) {
            return Ok(None);
        }
        let kept = old
            .as_deref()
            .and_then(parse)
            .map(|key| home.join(format!("{KEY_FILE}-{}", Sealer::new(key, "").fingerprint())));
        if let Some(kept) = &kept {
            match fs::hard_link(&path, kept) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(failed(error));
                }
                _ => {}
            }
        }
        let temporary = write_temporary(home, &self.0).map_err(failed)?;
        fs::rename(&temporary, &path).map_err(failed)?;
        Ok(kept)
    }
}

impl Sealer {
    /// Uses the key of a text (the value of [`KEY_VARIABLE`]), or else of the file [`KEY_FILE`] in
    /// the folder `home`, which is created with a random key on first use.
    pub fn open(variable: Option<&str>, home: &Path) -> Result<Self, KeyError> {
        let (key, place) = find(variable, home)?;
        Ok(Self::new(key, &place))
    }
}

/// Returns the current key and its source.
fn find(variable: Option<&str>, home: &Path) -> Result<([u8; 32], String), KeyError> {
    if let Some(text) = variable.filter(|it| !it.trim().is_empty()) {
        let place = format!("`{KEY_VARIABLE}`");
        let malformed = || KeyError::Malformed { place: place.clone() };
        return parse(text).ok_or_else(malformed).map(|key| (key, place));
    }
    let path = home.join(KEY_FILE);
    let place = format!("`{}`", path.display());
    check_private(&path)?;
    let text = read_or_make(&path).map_err(|source| KeyError::File { path, source })?;
    let key = parse(&text).ok_or_else(|| KeyError::Malformed { place: place.clone() })?;
    Ok((key, place))
}

/// Checks that only its owner can read a key file, if it exists.
fn check_private(path: &Path) -> Result<(), KeyError> {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(facts) = fs::metadata(path) else { return Ok(()) };
    let mode = facts.permissions().mode() & 0o777;
    let of_others = mode & 0o077;
    if of_others == 0 {
        return Ok(());
    }
    Err(KeyError::Public { path: path.display().to_string(), mode })
}

/// Reads the key file. Of several processes that create it concurrently one succeeds, and all read
/// its key.
fn read_or_make(path: &Path) -> io::Result<String> {
    match OsSystem.read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut bytes = [0; 32];
    random(&mut bytes)?;
    let temporary = write_temporary(folder, &bytes)?;
    // A link, unlike a rename, does not replace the file of a process that was faster.
    let linked = fs::hard_link(&temporary, path);
    let removed = fs::remove_file(&temporary);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => removed?,
    }
    fs::File::open(folder)?.sync_all()?;
    OsSystem.read_to_string(path)
}

/// Writes a key to a new file of a folder that only its owner can read.
fn write_temporary(folder: &Path, key: &[u8; 32]) -> io::Result<PathBuf> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut name = [0; 8];
    random(&mut name)?;
    let path = folder.join(format!(".{KEY_FILE}-{}", HEXLOWER.encode(&name)));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let text = format!("{}\n", HEXLOWER.encode(key));
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    Ok(path)
}

/// Fills a buffer with random bytes.
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    aws_lc_rs::rand::fill(bytes).map_err(|_| io::Error::other("the system gives no random bytes"))
}

fn parse(text: &str) -> Option<[u8; 32]> {
    let text = text.trim().as_bytes();
    [HEXLOWER_PERMISSIVE, BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD]
        .iter()
        .filter_map(|encoding| encoding.decode(text).ok())
        .find_map(|bytes| bytes.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("kusion-key-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_key_may_be_written_in_several_ways() {
        let key = [7; 32];
        for encoding in [HEXLOWER, BASE64, BASE64_NOPAD, BASE64URL, data_encoding::HEXUPPER] {
            assert_eq!(parse(&format!(" {}\n", encoding.encode(&key))), Some(key));
        }
        assert_eq!(parse("secret"), None);
        assert!(Sealer::open(Some("secret"), Path::new("/nowhere")).is_err());
    }

    #[test]
    fn many_threads_agree_on_one_new_key() {
        let folder = Folder::new("race");
        let hashes: Vec<String> = std::thread::scope(|scope| {
            let open = || Sealer::open(None, &folder.0).expect("a key").hash(&"x".into());
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|it| it.join().expect("no panic")).collect()
        });
        assert!(hashes.iter().all(|it| *it == hashes[0]));
        let files: Vec<_> = fs::read_dir(&folder.0).expect("the folder").collect();
        assert_eq!(files.len(), 1, "nothing but the key is left");
        let rights = fs::metadata(folder.0.join(KEY_FILE)).expect("the key").permissions().mode();
        assert_eq!(rights & 0o777, 0o600);
    }

    #[test]
    fn a_key_moves_to_another_folder_and_the_old_one_is_kept() {
        let (here, there) = (Folder::new("export"), Folder::new("import"));
        let exported = KeyText::open(None, &here.0).expect("a key").reveal();
        let old = KeyText::open(None, &there.0).expect("another key");
        let key = KeyText::parse(&exported, "a test").expect("a key");
        let kept = key.install(&there.0).expect("it is installed").expect("the old one is kept");
        assert_eq!(fs::read_to_string(&kept).expect("a file").trim(), old.reveal());
        let now = KeyText::open(None, &there.0).expect("a key");
        assert_eq!(now.fingerprint(), key.fingerprint());
        assert_eq!(key.install(&there.0).expect("it is there"), None);
        assert_eq!(fs::metadata(&kept).expect("a file").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_key_file_is_named_and_kept() {
        let folder = Folder::new("damaged");
        fs::create_dir_all(&folder.0).expect("a folder");
        let path = folder.0.join(KEY_FILE);
        fs::write(&path, "").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("private");
        let error = Sealer::open(None, &folder.0).expect_err("no key").to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
        assert_eq!(fs::read(&path).expect("still there"), b"");
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = Folder::new("public");
        let key = KeyText::open(None, &folder.0).expect("a key").reveal();
        let path = folder.0.join(KEY_FILE);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("public");
        let error = Sealer::open(None, &folder.0).expect_err("others can read it").to_string();
        assert!(error.contains("mode 644") && error.contains("chmod 600"), "{error}");
        assert!(Sealer::open(Some(&key), &folder.0).is_ok(), "the variable is private");
    }
}
