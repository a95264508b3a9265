//! What stacks ask of the file system.
//!
//! A [`Recorder`] stands between the compiler and the system. It answers the same question only
//! once (the files are those of one point in time) and notes which questions each stack asked,
//! with fingerprints of the answers.

use base_system::{FileAnswer, FileCall, FileKind, Metadata, System, View};
use kcl_hir::entry::MOD_FILE;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// A question about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// What a file says.
    Text,
    /// Whether something is there, and of which kind.
    Kind,
    /// Which entries a folder has.
    Listing,
    /// What the real path is.
    Real,
    /// What a variable of the environment says; the path is its name.
    Variable,
}

impl Question {
    pub(super) const ALL: [Self; 5] =
        [Self::Text, Self::Kind, Self::Listing, Self::Real, Self::Variable];

    /// The letter in manifests.
    pub(super) fn letter(self) -> &'static str {
        match self {
            Self::Text => "t",
            Self::Kind => "k",
            Self::Listing => "l",
            Self::Real => "r",
            Self::Variable => "v",
        }
    }
}

/// A question and the fingerprint of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact<P> {
    pub(super) question: Question,
    pub(super) path: P,
    pub(super) answer: Answer,
}

/// The fingerprint of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// What was said; for a file, what it holds.
    pub(super) hash: u64,
    /// How long a file is and when it was changed: while both stay, it need not be read. Of
    /// something that is not there, the folder's: while it stays, nothing is new.
    pub(super) stamp: Option<Stamp>,
}

/// By which a file is taken for unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) len: u64,
    pub(super) modified: Duration,
}

/// How much older than the batch a change must be for its time to be trusted: within one tick
/// of the clock a file may change twice.
const SAFE_AGE: Duration = Duration::from_secs(2);

impl Stamp {
    fn of(recorder: &Recorder<'_>, path: &Path, now: Duration) -> Option<Self> {
        let known = recorder.plain.borrow().get(path.as_os_str()).copied();
        let facts = known.map_or_else(|| recorder.system.metadata(path), Ok).ok()?;
        (facts.modified + SAFE_AGE < now).then_some(facts.into())
    }

    /// That of the folder of a path, if it is known and tells of changes.
    fn of_folder(recorder: &Recorder<'_>, path: &Path, now: Duration) -> Option<Self> {
        let facts = *recorder.plain.borrow().get(path.parent()?.as_os_str())?;
        let tells = facts.kind == FileKind::Directory && facts.modified > Duration::ZERO;
        (tells && facts.modified + SAFE_AGE < now).then_some(facts.into())
    }
}

impl From<Metadata> for Stamp {
    fn from(facts: Metadata) -> Self {
        Self { len: facts.len, modified: facts.modified }
    }
}

/// Answers to errors: everything that could not be answered is alike.
pub(super) const NO_ANSWER: u64 = 0;

pub(super) fn hash_bytes(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let first = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
    u64::from_le_bytes(*first) | 1
}

pub(super) fn variable_hash(value: Option<&str>) -> u64 {
    value.map_or(NO_ANSWER, |value| hash_bytes(value.as_bytes()))
}

pub(super) fn kind_hash(answer: Option<&Metadata>) -> u64 {
    match answer {
        Some(Metadata { kind: FileKind::File, len, .. }) => len + 2,
        Some(Metadata { kind: FileKind::Directory, .. }) => 1,
        None => NO_ANSWER,
    }
}

pub(super) fn listing_hash<E>(answer: &Result<Vec<PathBuf>, E>) -> u64 {
    let Ok(paths) = answer else { return NO_ANSWER };
    let mut hasher = FxHasher::default();
    for path in paths {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        hash_bytes(name).hash(&mut hasher);
    }
    hasher.finish() | 1
}

pub(super) fn real_hash<E>(answer: &Result<PathBuf, E>) -> u64 {
    match answer {
        Ok(path) => hash_bytes(path.as_os_str().as_encoded_bytes()),
        Err(_) => NO_ANSWER,
    }
}

/// An answer that can be given again.
type Known<T> = Result<T, io::ErrorKind>;

/// Answers by path, each with the number of its fact.
type Answers<T> = RefCell<FxHashMap<OsString, (Known<T>, u32)>>;

/// A system that remembers what it was asked. Paths are compared by their bytes: that is quick,
/// and another spelling is only asked for again.
pub(super) struct Recorder<'s> {
    system: &'s dyn System,
    /// When the batch began; `None` if nothing is recorded.
    start: Option<Duration>,
    kinds: Answers<Metadata>,
    reals: Answers<PathBuf>,
    listings: Answers<Vec<PathBuf>>,
    texts: RefCell<FxHashMap<OsString, u32>>,
    /// The texts of files that many stacks read.
    common_texts: RefCell<FxHashMap<OsString, String>>,
    /// What is known of paths that are no links.
    plain: RefCell<FxHashMap<OsString, Metadata>>,
    variables: RefCell<FxHashMap<String, (Option<String>, u32)>>,
    /// All facts, by number.
    facts: RefCell<Vec<Fact<PathBuf>>>,
    /// The facts that the current stack relies on.
    asked: RefCell<FxHashSet<u32>>,
    /// The facts that were asked for before the group that was begun last.
    set_aside: RefCell<FxHashSet<u32>>,
    /// Whether the current stack did what can't be repeated: it asked for the time or for
    /// random numbers, or it changed files.
    is_volatile: Cell<bool>,
}

/// What one stack relies on.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// The numbers of the facts, sorted.
    pub(super) facts: Vec<u32>,
    /// Whether its result may differ the next time whatever the files say.
    pub(super) is_volatile: bool,
}

impl<'s> Recorder<'s> {
    /// Makes a recorder; it keeps facts only if `records`.
    pub(super) fn new(system: &'s dyn System, records: bool) -> Self {
        Self {
            system,
            start: records.then(|| system.now()),
            kinds: RefCell::default(),
            reals: RefCell::default(),
            listings: RefCell::default(),
            texts: RefCell::default(),
            common_texts: RefCell::default(),
            plain: RefCell::default(),
            variables: RefCell::default(),
            facts: RefCell::default(),
            asked: RefCell::default(),
            set_aside: RefCell::default(),
            is_volatile: Cell::new(false),
        }
    }

    /// The system that is asked.
    pub(super) fn system(&self) -> &'s dyn System {
        self.system
    }

    /// What was asked since the last call.
    pub(super) fn take_asked(&self) -> Asked {
        let mut facts: Vec<u32> = self.asked.borrow_mut().drain().collect();
        facts.sort_unstable();
        Asked { facts, is_volatile: self.is_volatile.replace(false) }
    }

    /// Begins a group of questions.
    pub(super) fn begin_group(&self) {
        self.set_aside.swap(&self.asked);
    }

    /// Ends the group; the current stack relies on its facts, which are returned.
    pub(super) fn end_group(&self) -> Vec<u32> {
        self.set_aside.swap(&self.asked);
        let group: Vec<u32> = self.set_aside.borrow_mut().drain().collect();
        self.rely_on_all(&group);
        group
    }

    /// Notes that the current stack relies on facts.
    pub(super) fn rely_on_all(&self, facts: &[u32]) {
        if self.start.is_some() {
            self.asked.borrow_mut().extend(facts);
        }
    }

    /// Notes that the current stack relies on a file that may have been read for another one.
    pub(super) fn note_file(&self, path: &Path, text: &str) {
        self.note_text(path, || hash_bytes(text.as_bytes()));
    }

    /// Whether any fact that a stack relies on is so.
    pub(super) fn any_asked(&self, asked: &Asked, test: impl Fn(&Fact<PathBuf>) -> bool) -> bool {
        let facts = self.facts.borrow();
        asked.facts.iter().any(|fact| test(&facts[*fact as usize]))
    }

    /// All facts.
    pub(super) fn into_facts(self) -> Vec<Fact<PathBuf>> {
        self.facts.into_inner()
    }

    fn record(&self, question: Question, path: &Path, answer: impl FnOnce() -> u64) -> u32 {
        let Some(start) = self.start else { return 0 };
        let hash = answer();
        let stamp = match question {
            Question::Text => Stamp::of(self, path, start),
            Question::Kind if hash == NO_ANSWER => Stamp::of_folder(self, path, start),
            _ => None,
        };
        let answer = Answer { hash, stamp };
        let mut facts = self.facts.borrow_mut();
        let number = facts.len() as u32;
        facts.push(Fact { question, path: path.to_path_buf(), answer });
        self.asked.borrow_mut().insert(number);
        number
    }

    /// Finds out whether an absolute path is its own real path: it has no links and no dots.
    fn find_plain(&self, path: &Path) -> Option<()> {
        if self.plain.borrow().contains_key(path.as_os_str()) {
            return Some(());
        }
        match path.components().next_back()? {
            Component::RootDir => return Some(()),
            Component::Normal(_) => {}
            _ => return None,
        }
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
            return None;
        }
        self.find_plain(path.parent()?)?;
        let facts = self.system.link_metadata(path).ok()??;
        self.plain.borrow_mut().insert(path.into(), facts);
        Some(())
    }

    fn rely_on(&self, number: u32) {
        if self.start.is_some() {
            self.asked.borrow_mut().insert(number);
        }
    }

    fn note_text(&self, path: &Path, answer: impl FnOnce() -> u64) {
        if self.start.is_none() {
            return;
        }
        let known = self.texts.borrow().get(path.as_os_str()).copied();
        if let Some(number) = known {
            self.rely_on(number);
        } else {
            let number = self.record(Question::Text, path, answer);
            self.texts.borrow_mut().insert(path.into(), number);
        }
    }
}

fn again<T: Clone>(known: &Known<T>) -> io::Result<T> {
    known.clone().map_err(io::Error::from)
}

fn to_known<T>(answer: io::Result<T>) -> Known<T> {
    answer.map_err(|error| error.kind())
}

impl<'s> View for Recorder<'s> {
    type Behind = dyn System + 's;

    fn behind(&self) -> &(dyn System + 's) {
        self.system
    }

    fn to_change(&self) -> io::Result<&(dyn System + 's)> {
        self.is_volatile.set(true);
        // Nothing known of files is certain now.
        self.kinds.borrow_mut().clear();
        self.reals.borrow_mut().clear();
        self.listings.borrow_mut().clear();
        self.common_texts.borrow_mut().clear();
        self.plain.borrow_mut().clear();
        Ok(self.system)
    }

    fn volatile(&self) -> &(dyn System + 's) {
        self.is_volatile.set(true);
        self.system
    }

    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        if let Some(text) = self.common_texts.borrow().get(path.as_os_str()) {
            self.note_text(path, || hash_bytes(text.as_bytes()));
            return Ok(text.clone());
        }
        let answer = self.system.read_to_string(path);
        if let (Ok(text), true) = (&answer, path.ends_with(MOD_FILE)) {
            self.common_texts.borrow_mut().insert(path.into(), text.clone());
        }
        self.note_text(path, || {
            answer.as_ref().map_or(NO_ANSWER, |text| hash_bytes(text.as_bytes()))
        });
        answer
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let answer = self.system.read(path);
        self.note_text(path, || answer.as_ref().map_or(NO_ANSWER, |bytes| hash_bytes(bytes)));
        answer
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        if let Some((known, number)) = self.listings.borrow().get(path.as_os_str()) {
            self.rely_on(*number);
            return again(known);
        }
        let answer = to_known(self.system.read_dir(path));
        let number = self.record(Question::Listing, path, || listing_hash(&answer));
        let given = again(&answer);
        self.listings.borrow_mut().insert(path.into(), (answer, number));
        given
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        if let Some((known, number)) = self.kinds.borrow().get(path.as_os_str()) {
            self.rely_on(*number);
            return again(known);
        }
        let plain = self.plain.borrow().get(path.as_os_str()).copied();
        let answer = plain.map_or_else(|| to_known(self.system.metadata(path)), Ok);
        let number = self.record(Question::Kind, path, || kind_hash(answer.as_ref().ok()));
        let given = again(&answer);
        self.kinds.borrow_mut().insert(path.into(), (answer, number));
        given
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        if let Some((known, number)) = self.reals.borrow().get(path.as_os_str()) {
            self.rely_on(*number);
            return again(known);
        }
        let answer = match self.find_plain(path) {
            Some(()) => Ok(path.to_path_buf()),
            None => to_known(self.system.canonicalize(path)),
        };
        let number = self.record(Question::Real, path, || real_hash(&answer));
        let given = again(&answer);
        self.reals.borrow_mut().insert(path.into(), (answer, number));
        given
    }

    fn below(&self, root: &Path, path: &Path, call: FileCall<'_>) -> io::Result<FileAnswer> {
        if call.is_change() {
            return self.to_change()?.below(root, path, call);
        }
        let answer = self.system.below(root, path, call);
        // Whether it would be refused is not recorded: such a fact does not hold the next time.
        match &answer {
            Ok(FileAnswer::Bytes(bytes)) => self.note_text(path, || hash_bytes(bytes)),
            Ok(FileAnswer::Facts(facts)) => {
                self.record(Question::Kind, path, || kind_hash(Some(facts)));
            }
            Ok(FileAnswer::Entries(entries)) => {
                let entries: Result<_, ()> = Ok(entries.clone());
                self.record(Question::Listing, path, || listing_hash(&entries));
            }
            Ok(FileAnswer::Path(real)) => {
                let real: Result<_, ()> = Ok(real.clone());
                self.record(Question::Real, path, || real_hash(&real));
            }
            Ok(FileAnswer::Done) => {}
            Err(_) => {
                let question = match call {
                    FileCall::Read(_) => Question::Text,
                    FileCall::List => Question::Listing,
                    FileCall::RealPath => Question::Real,
                    _ => Question::Kind,
                };
                self.record(question, path, || NO_ANSWER);
            }
        }
        answer
    }

    fn env(&self, name: &str) -> Option<String> {
        if let Some((known, number)) = self.variables.borrow().get(name) {
            self.rely_on(*number);
            return known.clone();
        }
        let value = self.system.env(name);
        let hash = || variable_hash(value.as_deref());
        let number = self.record(Question::Variable, Path::new(name), hash);
        self.variables.borrow_mut().insert(name.to_owned(), (value.clone(), number));
        value
    }
}

/// Files that were changed, added or removed.
pub(super) struct Change {
    paths: FxHashSet<PathBuf>,
    /// The folders above them.
    folders: FxHashSet<PathBuf>,
}

impl Change {
    pub(super) fn new(system: &dyn System, paths: &[PathBuf]) -> Self {
        let mut change = Self {
            paths: FxHashSet::with_capacity_and_hasher(paths.len(), FxBuildHasher),
            folders: FxHashSet::default(),
        };
        for path in paths {
            // A removed file has no real path, but the folder above it may have one.
            let real = real_path(system, path);
            for folder in real.ancestors().skip(1).chain(path.ancestors().skip(1)) {
                if !change.folders.insert(folder.to_path_buf()) {
                    break;
                }
            }
            change.paths.insert(path.clone());
            change.paths.insert(real);
        }
        change
    }

    /// Whether a change may alter the answer to a question.
    pub(super) fn touches(&self, question: Question, path: &Path) -> bool {
        match question {
            // Folders come and go with the files in them.
            Question::Kind | Question::Real => {
                self.paths.contains(path)
                    || self.folders.contains(path) && question == Question::Kind
            }
            Question::Text => self.paths.contains(path),
            Question::Listing => self.folders.contains(path),
            Question::Variable => false,
        }
    }
}

fn real_path(system: &dyn System, path: &Path) -> PathBuf {
    if let Ok(real) = system.canonicalize(path) {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real_path(system, folder).join(name),
        _ => path.to_path_buf(),
    }
}
