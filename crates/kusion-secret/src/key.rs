//! Where the key comes from.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the key is a file that only its owner may read"
)]

use crate::Sealer;
use data_encoding::{
    BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE,
};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The variable of the environment that may hold the key.
pub const KEY_VARIABLE: &str = "KUSION_KEY";
/// The name of the file that holds the key otherwise.
pub const KEY_FILE: &str = "key";

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// What should be a key is none.
    #[error("{place} holds no key: 32 bytes are wanted, in hexadecimal or base64")]
    Malformed {
        /// The variable or the file.
        place: String,
    },
    /// The file cannot be read or made.
    #[error("the key file `{}` cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

impl Sealer {
    /// Takes the key from a text (the value of [`KEY_VARIABLE`]), or else from the file
    /// [`KEY_FILE`] in the folder `home`, which is made with a random key on first use.
    pub fn open(variable: Option<&str>, home: &Path) -> Result<Self, KeyError> {
        if let Some(text) = variable.filter(|it| !it.trim().is_empty()) {
            let key = parse(text)
                .ok_or_else(|| KeyError::Malformed { place: format!("`{KEY_VARIABLE}`") })?;
            return Ok(Self::new(key, &format!("`{KEY_VARIABLE}`")));
        }
        let path = home.join(KEY_FILE);
        let place = format!("`{}`", path.display());
        let text = read_or_make(&path).map_err(|source| KeyError::File { path, source })?;
        let key = parse(&text).ok_or_else(|| KeyError::Malformed { place: place.clone() })?;
        Ok(Self::new(key, &place))
    }
}

/// Reads the key file. Of several processes that make it at the same time one succeeds, and all
/// read its key.
fn read_or_make(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut bytes = [0; 32];
    random(&mut bytes)?;
    let mut name = [0; 8];
    random(&mut name)?;
    let temporary = folder.join(format!(".{KEY_FILE}-{}", HEXLOWER.encode(&name)));
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let text = format!("{}\n", HEXLOWER.encode(&bytes));
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    // A link, unlike a rename, does not replace the file of a process that was quicker.
    let linked = written.and_then(|()| fs::hard_link(&temporary, path));
    let removed = fs::remove_file(&temporary);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => removed?,
    }
    fs::File::open(folder)?.sync_all()?;
    fs::read_to_string(path)
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
    fn a_damaged_key_file_is_named_and_kept() {
        let folder = Folder::new("damaged");
        fs::create_dir_all(&folder.0).expect("a folder");
        let path = folder.0.join(KEY_FILE);
        fs::write(&path, "").expect("a file");
        let error = Sealer::open(None, &folder.0).expect_err("no key").to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
        assert_eq!(fs::read(&path).expect("still there"), b"");
    }
}
