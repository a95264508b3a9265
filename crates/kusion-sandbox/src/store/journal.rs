//! The changes of a cluster in a file, so that its objects survive a restart.
//!
//! A change is written before it is acknowledged, so a killed process loses none. (The file is not
//! synchronised at each change: a machine that loses power can lose the last ones.) The file begins
//! with a line that names its format; records follow:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length of the content |
//! | 4 | CRC-32 of the content |
//! | 4 | CRC-32 of these 8 bytes |
//! | … | content: kind (1), revision (8), group, plural name and key (each with 2 bytes of length), the object as JSON |
//!
//! Numbers are little-endian. A file with many changes of few objects is replaced by one with the
//! present objects.

use crate::api::EventKind;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

/// The first line of the file.
const FORMAT: &str = "kusion sandbox objects, format 1\n";
/// How every version of the first line begins.
const FAMILY: &str = "kusion sandbox objects, format ";
/// The name of the file in its folder.
const FILE: &str = "objects.log";
/// The name of a new file that is not complete.
const NEW_FILE: &str = "objects.new";
/// The name of the file that keeps other processes away.
const LOCK: &str = "lock";
/// Length and checksums of a record.
const HEAD: usize = 12;
/// The part of the head that its own checksum is of.
const SUMMED: usize = 8;
/// Kind and revision.
const FIXED: usize = 9;
/// Maximum size of a record, in bytes: an object, and its names.
const MAX_RECORD: usize = 4 << 20;
/// A smaller file is never replaced.
const SMALL: u64 = 16 << 20;
/// A file is replaced if it is so many times larger than after the last time.
const GROWTH: u64 = 4;

/// The names of a table: API group and plural name.
pub(super) type TableName = (String, String);

/// The objects of a table by their keys, with their revisions and texts.
pub(super) type Objects = BTreeMap<String, (u64, Bytes)>;

/// What a file contains.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    /// The revision of the last change; 0 for a new file.
    pub(super) revision: u64,
    pub(super) tables: BTreeMap<TableName, Objects>,
}

/// One change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) kind: EventKind,
    pub(super) revision: u64,
    pub(super) group: &'a str,
    pub(super) plural: &'a str,
    pub(super) key: &'a str,
    /// The object as JSON; of no meaning when it is deleted.
    pub(super) text: &'a [u8],
}

/// An open file.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    file: File,
    len: u64,
    /// The length after the file was replaced or opened.
    base: u64,
    /// Whether the end of the file is not known.
    is_broken: bool,
    buffer: Vec<u8>,
    /// Released with the value.
    _lock: File,
}

impl Journal {
    /// Opens the file in a folder; both are made if they are missing.
    ///
    /// # Errors
    /// Another process uses the folder, or the file is damaged, or it has an unknown format.
    pub(crate) fn open(folder: &Path) -> io::Result<(Self, Restored)> {
        create_folder(folder)?;
        let lock = lock(folder)?;
        let path = folder.join(FILE);
        let (file, restored, len) = match private().read(true).append(true).open(&path) {
            Ok(file) => read_and_cut(file)
                .map_err(|error| io::Error::new(error.kind(), format!("`{FILE}`: {error}")))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (file, len) = replace(folder, 0, &mut std::iter::empty())?;
                (file, Restored::default(), len)
            }
            Err(error) => return Err(error),
        };
        let folder = folder.to_owned();
        let journal = Self {
            folder,
            file,
            len,
            base: len,
            is_broken: false,
            buffer: Vec::new(),
            _lock: lock,
        };
        Ok((journal, restored))
    }

    /// Writes a change.
    pub(super) fn append(&mut self, record: &Record<'_>) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("an earlier change was written in part"));
        }
        self.buffer.clear();
        encode(record, &mut self.buffer)?;
        if let Err(error) = self.file.write_all(&self.buffer) {
            // What was written of it must not be followed by other changes.
            self.is_broken = self.file.set_len(self.len).is_err();
            return Err(error);
        }
        self.len += self.buffer.len() as u64;
        self.buffer.shrink_to(64 << 10);
        Ok(())
    }

    /// Returns whether the file should be replaced.
    pub(super) fn is_long(&self) -> bool {
        self.len > SMALL && self.len > GROWTH * self.base
    }

    /// Replaces the file by one with the present objects. Nothing is lost if that fails: the
    /// present file goes on.
    pub(super) fn rewrite(&mut self, revision: u64, objects: &mut dyn Iterator<Item = Record<'_>>) {
        match replace(&self.folder, revision, objects) {
            Ok((file, len)) => (self.file, self.len, self.base) = (file, len, len),
            // Not at once again.
            Err(_) => self.base = self.len,
        }
    }
}

/// Removes the objects in a data folder, which no sandbox may use.
pub fn remove_objects(folder: &Path) -> io::Result<()> {
    let _lock = lock(folder)?;
    for name in [FILE, NEW_FILE] {
        match std::fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Makes a folder that only its owner can use.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns options for a file that only its owner can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn lock(folder: &Path) -> io::Result<File> {
    let file = private().write(true).create(true).truncate(false).open(folder.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = "another sandbox uses this folder";
            Err(io::Error::new(io::ErrorKind::WouldBlock, message))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Writes a new file and puts it in the place of the old one; returns it with its length.
fn replace(
    folder: &Path,
    revision: u64,
    objects: &mut dyn Iterator<Item = Record<'_>>,
) -> io::Result<(File, u64)> {
    let path = folder.join(NEW_FILE);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut writer = BufWriter::new(private().append(true).create_new(true).open(&path)?);
    let mut len = FORMAT.len() as u64;
    writer.write_all(FORMAT.as_bytes())?;
    // The last change may have been a deletion, which no object tells of.
    let last =
        Record { kind: EventKind::Deleted, revision, group: "", plural: "", key: "", text: b"" };
    let mut buffer = Vec::new();
    for record in objects.chain(std::iter::once(last)) {
        buffer.clear();
        encode(&record, &mut buffer)?;
        writer.write_all(&buffer)?;
        len += buffer.len() as u64;
    }
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    std::fs::rename(&path, folder.join(FILE))?;
    Ok((file, len))
}

fn encode(record: &Record<'_>, buffer: &mut Vec<u8>) -> io::Result<()> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "a name is too long");
    buffer.extend_from_slice(&[0; HEAD]);
    buffer.push(match record.kind {
        EventKind::Added => b'a',
        EventKind::Modified => b'm',
        EventKind::Deleted => b'd',
    });
    buffer.extend_from_slice(&record.revision.to_le_bytes());
    for name in [record.group, record.plural, record.key] {
        let len = u16::try_from(name.len()).map_err(|_| too_long())?;
        buffer.extend_from_slice(&len.to_le_bytes());
        buffer.extend_from_slice(name.as_bytes());
    }
    if record.kind != EventKind::Deleted {
        buffer.extend_from_slice(record.text);
    }
    let content = &buffer[HEAD..];
    let len = u32::try_from(content.len()).map_err(|_| too_long())?;
    let sum = crc32fast::hash(content);
    buffer[..4].copy_from_slice(&len.to_le_bytes());
    buffer[4..SUMMED].copy_from_slice(&sum.to_le_bytes());
    let sum = crc32fast::hash(&buffer[..SUMMED]);
    buffer[SUMMED..HEAD].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

/// Reads a file, and cuts off what is not complete: the process was killed while it wrote a change,
/// which nobody was told of. Returns the file, its content and its length.
fn read_and_cut(mut file: File) -> io::Result<(File, Restored, u64)> {
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(invalid("this is not a regular file"));
    }
    let len = facts.len();
    let (restored, end) = read(&mut file, len)?;
    if end < len {
        file.set_len(end)?;
    }
    Ok((file, restored, end))
}

/// Reads a file; returns its content and where its last complete record ends.
fn read(file: &mut File, len: u64) -> io::Result<(Restored, u64)> {
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut first = vec![0; FORMAT.len()];
    let is_whole = reader.read_exact(&mut first).is_ok();
    if !is_whole || first != FORMAT.as_bytes() {
        return Err(invalid(if first.starts_with(FAMILY.as_bytes()) {
            "the objects have a format that this version of kusion does not know"
        } else {
            "this is not a file of a sandbox"
        }));
    }
    let mut restored = Restored::default();
    let mut at = FORMAT.len() as u64;
    let mut content = Vec::new();
    while len - at >= HEAD as u64 {
        let mut head = [0; HEAD];
        reader.read_exact(&mut head)?;
        let number = |at: usize| {
            head[at..at + 4].iter().rev().fold(0_u32, |sum, it| (sum << 8) | u32::from(*it))
        };
        let (size, sum) = (number(0) as usize, number(4));
        // After a loss of power, space that was reserved may have no content.
        if head == [0; HEAD] {
            break;
        }
        if number(SUMMED) != crc32fast::hash(&head[..SUMMED]) || size > MAX_RECORD {
            return Err(damaged(at));
        }
        let end = at + (HEAD + size) as u64;
        if end > len {
            break;
        }
        content.resize(size, 0);
        reader.read_exact(&mut content)?;
        if crc32fast::hash(&content) != sum {
            // After a loss of power, the last record may have the right length and no content.
            return if end == len { Ok((restored, at)) } else { Err(damaged(at)) };
        }
        take(&content, &mut restored).ok_or_else(|| damaged(at))?;
        at = end;
    }
    Ok((restored, at))
}

/// Takes the content of a record in; `None` if it is not one.
fn take(content: &[u8], restored: &mut Restored) -> Option<()> {
    let (fixed, mut rest) = content.split_at_checked(FIXED)?;
    let (kind, revision) = fixed.split_first()?;
    restored.revision = u64::from_le_bytes(revision.try_into().ok()?);
    let mut name = || {
        let (len, after) = rest.split_first_chunk::<2>()?;
        let (name, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*len)))?;
        rest = after;
        std::str::from_utf8(name).ok().map(str::to_owned)
    };
    let (group, plural, key) = (name()?, name()?, name()?);
    if plural.is_empty() {
        return Some(());
    }
    let table = restored.tables.entry((group, plural)).or_default();
    match kind {
        b'a' | b'm' => {
            table.insert(key, (restored.revision, Bytes::copy_from_slice(rest)));
        }
        b'd' => {
            table.remove(&key);
        }
        _ => return None,
    }
    Some(())
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.to_owned())
}

fn damaged(at: u64) -> io::Error {
    invalid(&format!("the file is damaged at byte {at}; move it away to begin without objects"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A folder that is removed with the value.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("kusion-journal-{}-{number}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        fn bytes(&self) -> Vec<u8> {
            std::fs::read(self.0.join(FILE)).expect("a file")
        }

        fn write(&self, bytes: &[u8]) {
            std::fs::write(self.0.join(FILE), bytes).expect("written");
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn record<'a>(kind: EventKind, revision: u64, key: &'a str, text: &'a str) -> Record<'a> {
        Record { kind, revision, group: "apps", plural: "deployments", key, text: text.as_bytes() }
    }

    /// Returns the keys, revisions and texts of a file.
    fn content(restored: &Restored) -> Vec<(String, u64, String)> {
        let objects = restored.tables.values().flatten();
        let text = |text: &Bytes| String::from_utf8_lossy(text).into_owned();
        objects.map(|(key, (revision, it))| (key.clone(), *revision, text(it))).collect()
    }

    fn filled(folder: &Folder) -> Vec<(String, u64, String)> {
        let (mut journal, restored) = Journal::open(&folder.0).expect("a new file");
        assert!(restored.tables.is_empty() && restored.revision == 0);
        for record in [
            record(EventKind::Added, 101, "a/x", "{\"n\":1}"),
            record(EventKind::Added, 102, "a/y", "{}"),
            record(EventKind::Modified, 103, "a/x", "{\"n\":2}"),
            record(EventKind::Deleted, 104, "a/y", "{}"),
        ] {
            journal.append(&record).expect("written");
        }
        vec![("a/x".to_owned(), 103, "{\"n\":2}".to_owned())]
    }

    #[test]
    fn what_was_written_comes_back_and_one_process_uses_it() {
        let folder = Folder::new();
        let expected = filled(&folder);
        let (journal, restored) = Journal::open(&folder.0).expect("readable");
        assert_eq!((content(&restored), restored.revision), (expected, 104));
        let error = Journal::open(&folder.0).expect_err("in use");
        assert_eq!(error.to_string(), "another sandbox uses this folder");
        drop(journal);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode();
            assert_eq!(mode(&folder.0) & 0o777, 0o700);
            assert_eq!(mode(&folder.0.join(FILE)) & 0o777, 0o600);
        }
    }

    #[test]
    fn a_new_file_has_the_same_content() {
        let folder = Folder::new();
        let expected = filled(&folder);
        let (mut journal, restored) = Journal::open(&folder.0).expect("readable");
        let objects = content(&restored);
        let mut records = objects
            .iter()
            .map(|(key, revision, text)| record(EventKind::Added, *revision, key, text));
        let before = journal.len;
        journal.rewrite(restored.revision, &mut records);
        assert!(journal.len < before, "{} < {before}", journal.len);
        journal.append(&record(EventKind::Added, 105, "a/z", "[]")).expect("written");
        drop(journal);
        let (_, restored) = Journal::open(&folder.0).expect("readable");
        assert_eq!(restored.revision, 105);
        let [first, second] = &content(&restored)[..] else { panic!("{restored:?}") };
        assert_eq!((first, second.0.as_str()), (&expected[0], "a/z"));
    }

    #[test]
    fn a_file_that_is_cut_anywhere_has_what_was_complete() {
        let folder = Folder::new();
        filled(&folder);
        let whole = folder.bytes();
        let mut revisions = Vec::new();
        for cut in FORMAT.len()..=whole.len() {
            folder.write(&whole[..cut]);
            let (mut journal, restored) = Journal::open(&folder.0).expect("readable");
            revisions.push(restored.revision);
            // It goes on behind the last complete change.
            journal.append(&record(EventKind::Added, 200, "new", "1")).expect("written");
            drop(journal);
            let (_, again) = Journal::open(&folder.0).expect("readable");
            assert_eq!(content(&again).len(), content(&restored).len() + 1);
        }
        revisions.dedup();
        assert_eq!(revisions, [0, 101, 102, 103, 104]);
    }

    #[test]
    fn nothing_follows_a_change_that_was_written_in_part() {
        let folder = Folder::new();
        filled(&folder);
        let (mut journal, _) = Journal::open(&folder.0).expect("readable");
        let writable = std::mem::replace(
            &mut journal.file,
            File::open(folder.0.join(FILE)).expect("readable"),
        );
        let new = record(EventKind::Added, 105, "a/z", "{}");
        journal.append(&new).expect_err("the file cannot be written, nor cut");
        journal.file = writable;
        let error = journal.append(&new).expect_err("its end is not known");
        assert_eq!(error.to_string(), "an earlier change was written in part");
    }

    #[test]
    fn damage_is_refused_and_files_of_others_too() {
        let folder = Folder::new();
        filled(&folder);
        let whole = folder.bytes();
        // The last record is the deletion of `a/y`.
        let last = HEAD + FIXED + 2 + 4 + 2 + 11 + 2 + 3;
        for at in FORMAT.len()..whole.len() - last {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            folder.write(&bytes);
            let error = Journal::open(&folder.0).expect_err("damaged");
            assert!(error.to_string().contains("damaged at byte"), "byte {at}: {error}");
            assert_eq!(folder.bytes(), bytes, "unchanged");
        }
        for (text, message) in [
            ("kusion sandbox objects, format 2\nxxx", "does not know"),
            ("something else", "not a file of a sandbox"),
            ("", "not a file of a sandbox"),
        ] {
            folder.write(text.as_bytes());
            let error = Journal::open(&folder.0).expect_err(text);
            assert!(error.to_string().contains(message), "{error}");
            assert_eq!(folder.bytes(), text.as_bytes(), "unchanged");
        }
    }
}
