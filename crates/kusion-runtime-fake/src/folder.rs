//! Objects as files.

use kusion_model::{AttemptId, ResourceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The attempt that made an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// The stack.
    pub stack: String,
    /// The attempt.
    pub attempt: AttemptId,
}

/// An object as its file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// The id that the runtime gave it.
    pub id: String,
    /// The resource that it was made for.
    pub resource: ResourceId,
    /// The attempt that made it.
    pub tag: Option<Tag>,
    /// The token that the runtime must pass with every change of the object.
    #[serde(default)]
    pub token: String,
    /// The mark of its owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Its attributes, without id and address.
    pub attributes: Map<String, Value>,
}

impl Stored {
    /// Returns the attributes as the runtime shows them, with id and address.
    pub fn shown(&self) -> Value {
        let mut out = self.attributes.clone();
        out.insert("id".to_owned(), self.id.as_str().into());
        out.insert("address".to_owned(), format!("{}.fake.internal", self.id).into());
        Value::Object(out)
    }
}

/// A folder of objects.
#[derive(Clone, Debug)]
pub struct Folder {
    objects: PathBuf,
    identity: PathBuf,
}

impl Folder {
    /// Opens a folder, and creates it if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open(path: &Path) -> io::Result<Self> {
        let objects = path.join("objects");
        fs::create_dir_all(&objects)?;
        Ok(Self { objects, identity: path.join("identity") })
    }

    /// Returns all objects, in order of their ids.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn objects(&self) -> io::Result<Vec<Stored>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.objects)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            match fs::read(&path) {
                Ok(text) => found.push(parse(&text)?),
                // Deleted by another process meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    /// Reads an object.
    pub(crate) fn get(&self, id: &str) -> io::Result<Option<Stored>> {
        match fs::read(self.path(id)) {
            Ok(text) => parse(&text).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes an object: all of it, or nothing.
    pub(crate) fn put(&self, object: &Stored) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(object).map_err(io::Error::other)?;
        let temporary = self.objects.join(format!("{}.{:x}.tmp", object.id, fastrand::u64(..)));
        fs::write(&temporary, text)?;
        fs::rename(&temporary, self.path(&object.id))
    }

    /// Deletes an object, if it is there.
    pub(crate) fn remove(&self, id: &str) -> io::Result<()> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns what tells this folder from others; made once.
    pub(crate) fn identity(&self) -> io::Result<String> {
        if let Ok(text) = fs::read_to_string(&self.identity) {
            return Ok(text);
        }
        let temporary = self.identity.with_extension(format!("{:x}.tmp", fastrand::u64(..)));
        fs::write(&temporary, format!("fake-{:016x}", fastrand::u64(..)))?;
        // The first one wins.
        let linked = fs::hard_link(&temporary, &self.identity);
        fs::remove_file(&temporary)?;
        match linked {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => fs::read_to_string(&self.identity),
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.objects.join(format!("{id}.json"))
    }
}

fn parse(text: &[u8]) -> io::Result<Stored> {
    serde_json::from_slice(text).map_err(io::Error::other)
}
