//! `host:file`: a file with its content.

use super::{
    Fields, Item, Kind, Situation, add_owner, or_empty, other_kind, parent_of, path_problem, set,
};
use crate::answer::Answer;
use crate::attributes::Reader;
use crate::hosts::is_user;
use crate::script::Script;
use data_encoding::{BASE64, HEXLOWER};
use kusion_model::Problem;
use kusion_runtime::RuntimeError;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The largest file in bytes.
pub(super) const MAX_FILE: usize = 4 << 20;

/// The mode of a new file that has none.
const NEW_MODE: &str = "0644";

pub(super) struct File {
    path: String,
    content: Vec<u8>,
    mode: Option<String>,
    owner: Option<String>,
    group: Option<String>,
    is_sensitive: bool,
}

impl File {
    pub(super) fn parse(name: &str, attributes: &Value) -> (Self, Vec<Problem>) {
        let names = ["content", "contentBase64", "group", "mode", "owner", "sensitive"];
        let mut reader = Reader::new(attributes, &names);
        reader.problems.extend(path_problem(name));
        let file = Self {
            path: name.to_owned(),
            content: read_content(&mut reader),
            mode: reader.mode(),
            owner: reader.text_if("owner", "the name of a user", is_user),
            group: reader.text_if("group", "the name of a group", is_user),
            is_sensitive: reader.flag("sensitive").unwrap_or_default(),
        };
        (file, reader.problems)
    }
}

fn read_content(reader: &mut Reader<'_>) -> Vec<u8> {
    let content = match (reader.text("content"), reader.text("contentBase64")) {
        (Some(_), Some(_)) => {
            reader.add("contentBase64", "set either `content` or `contentBase64`");
            Vec::new()
        }
        (Some(text), None) => text.into_bytes(),
        (None, Some(text)) => BASE64.decode(text.as_bytes()).unwrap_or_else(|_| {
            reader.add("contentBase64", "`contentBase64` is not valid base64");
            Vec::new()
        }),
        (None, None) => Vec::new(),
    };
    if content.len() > MAX_FILE {
        reader.add("content", "the content of a file can have at most 4 MiB");
    }
    content
}

impl Item for File {
    fn read(&self, script: &mut Script) {
        script.call(Kind::File, "read_file", &[&self.path, &MAX_FILE.to_string()]);
    }

    fn live(&self, answer: &Answer) -> Result<Option<Fields>, RuntimeError> {
        match answer.text("is") {
            Some("absent") => return Ok(None),
            Some("file") => {}
            found => return Err(other_kind(&self.path, found.unwrap_or_default())),
        }
        let content = answer.bytes("content").unwrap_or_default();
        let mut fields = content_fields(content);
        add_owner(&mut fields, answer);
        fields.insert("path".to_owned(), self.path.as_str().into());
        fields.insert("sha256".to_owned(), HEXLOWER.encode(&Sha256::digest(content)).into());
        Ok(Some(fields))
    }

    fn desired(&self) -> Fields {
        let mut fields = content_fields(&self.content);
        set(&mut fields, "mode", self.mode.clone());
        set(&mut fields, "owner", self.owner.clone());
        set(&mut fields, "group", self.group.clone());
        fields
    }

    fn apply(&self, script: &mut Script, situation: Situation<'_>) {
        let limit = MAX_FILE.to_string();
        let is_same = situation
            .live
            .is_some_and(|live| self.desired().iter().all(|(name, it)| live.get(name) == Some(it)));
        if is_same {
            let function = if situation.is_managed { "read_file" } else { "keep_file" };
            return script.call(Kind::File, function, &[&self.path, &limit]);
        }
        let live_mode = situation.live.and_then(|it| it.get("mode")?.as_str());
        let mode = self.mode.as_deref().or(live_mode).unwrap_or(NEW_MODE);
        let (owner, group) = (or_empty(self.owner.as_ref()), or_empty(self.group.as_ref()));
        let known = if situation.is_managed { "known" } else { "new" };
        script.content(&self.content);
        let arguments = [&*self.path, &limit, mode, owner, group, known];
        script.call(Kind::File, "put_file", &arguments);
    }

    fn delete(&self, script: &mut Script, _: Option<&Fields>) {
        script.call(Kind::File, "drop_file", &[&self.path]);
    }

    fn secret_names(&self) -> &'static [&'static str] {
        if self.is_sensitive { &["content", "contentBase64", "sha256"] } else { &[] }
    }

    fn remembers_before(&self) -> bool {
        // It stays on the host, beside the file.
        false
    }

    fn parent(&self) -> Option<String> {
        parent_of(&self.path)
    }
}

/// Returns bytes as the attribute that can hold them.
fn content_fields(content: &[u8]) -> Fields {
    let mut fields = Fields::new();
    match std::str::from_utf8(content) {
        Ok(text) if !text.contains('\0') => fields.insert("content".to_owned(), text.into()),
        _ => fields.insert("contentBase64".to_owned(), BASE64.encode(content).into()),
    };
    fields
}
