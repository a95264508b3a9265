//! Settings files: `kcl.yaml` and those named with `-Y`.

use base_system::System;
use base_text::nearest;
use kcl_value::{Dict, Entry, Value, json, yaml};
use std::cell::RefCell;
use std::io;
use std::path::Path;
use thiserror::Error;

/// The settings file that is read if none is named.
pub(crate) const DEFAULT_FILE: &str = "kcl.yaml";

/// What a settings file says; `None` where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `files`, or `file` in the older form: what to run.
    pub files: Option<Vec<String>>,
    /// Where the output goes.
    pub output: Option<String>,
    /// Changes to the program.
    pub overrides: Option<Vec<String>>,
    /// The parts of the result to be shown.
    pub path_selector: Option<Vec<String>>,
    /// Whether integers have 32 bits.
    pub strict_range_check: Option<bool>,
    /// Whether `None` is left out.
    pub disable_none: Option<bool>,
    /// Whether failures carry a call trace.
    pub debug: Option<bool>,
    /// Whether keys are sorted.
    pub sort_keys: Option<bool>,
    /// Whether private names are shown.
    pub show_hidden: Option<bool>,
    /// Whether schema instances carry the name of their schema.
    pub include_schema_type_path: Option<bool>,
    /// External packages: names with folders.
    pub package_maps: Option<Vec<(String, String)>>,
    /// The form of the output.
    pub format: Option<String>,
    /// `kcl_options`: top-level arguments, with values in JSON.
    pub options: Vec<(String, String)>,
    /// Keys that have no effect, as messages.
    pub unknown: Vec<String>,
}

/// The sections of a settings file.
const SECTIONS: [&str; 2] = ["kcl_cli_configs", "kcl_options"];
/// The keys of `kcl_cli_configs`; the last two are the reference's and have no effect.
const CONFIGS: [&str; 15] = [
    "files",
    "file",
    "output",
    "overrides",
    "path_selector",
    "strict_range_check",
    "disable_none",
    "debug",
    "sort_keys",
    "show_hidden",
    "include_schema_type_path",
    "package_maps",
    "format",
    "fast_eval",
    "verbose",
];

/// Why a settings file can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The file can't be read.
    #[error("Failed to load '{0}', no such file or directory")]
    Missing(String),
    /// The file is a pipe, a terminal or a device.
    #[error("Failed to load '{0}', not a regular file")]
    NotRegular(String),
    /// The file is not YAML, or something in it has the wrong type.
    #[error("Failed to load '{0}', invalid setting file format")]
    Invalid(String),
}

impl Settings {
    /// Reads a settings file; messages name it as `shown`.
    pub fn read(system: &dyn System, path: &Path, shown: &str) -> Result<Self, SettingsError> {
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidInput => SettingsError::NotRegular(shown.to_owned()),
            _ => SettingsError::Missing(shown.to_owned()),
        };
        let text = system.read_to_string(path).map_err(unreadable)?;
        Self::parse_again(&text).ok_or_else(|| SettingsError::Invalid(shown.to_owned()))
    }

    /// Reads the text of a settings file, which most often is that of the file before.
    fn parse_again(text: &str) -> Option<Self> {
        thread_local! {
            static LAST: RefCell<Option<(String, Settings)>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| match last {
            Some((known, settings)) if known == text => Some(settings.clone()),
            _ => {
                let settings = Self::parse(text)?;
                *last = Some((text.to_owned(), settings.clone()));
                Some(settings)
            }
        })
    }

    /// Reads the text of a settings file; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        read(&yaml::parse(text).ok()?).ok()
    }

    /// Takes over what a later settings file says.
    pub fn merge(&mut self, later: Self) {
        fn set<T>(slot: &mut Option<T>, later: Option<T>) {
            if later.is_some() {
                *slot = later;
            }
        }
        set(&mut self.files, later.files);
        set(&mut self.output, later.output);
        set(&mut self.overrides, later.overrides);
        set(&mut self.path_selector, later.path_selector);
        set(&mut self.strict_range_check, later.strict_range_check);
        set(&mut self.disable_none, later.disable_none);
        set(&mut self.debug, later.debug);
        set(&mut self.sort_keys, later.sort_keys);
        set(&mut self.show_hidden, later.show_hidden);
        set(&mut self.include_schema_type_path, later.include_schema_type_path);
        set(&mut self.package_maps, later.package_maps);
        set(&mut self.format, later.format);
        self.options.extend(later.options);
        self.unknown.extend(later.unknown);
    }
}

/// Something has another type than it must have.
struct WrongType;

/// A field, if it is there.
type Field<T> = Result<Option<T>, WrongType>;

fn read(value: &Value) -> Result<Settings, WrongType> {
    let mut settings = Settings::default();
    let Some(root) = mapping(Some(value))? else { return Ok(settings) };
    if let Some(config) = mapping(root.get("kcl_cli_configs"))? {
        settings = read_config(config)?;
        settings.unknown = unknown("kcl_cli_configs.", config, &CONFIGS);
    }
    settings.unknown.extend(unknown("", root, &SECTIONS));
    for option in list(root.get("kcl_options"))?.unwrap_or_default() {
        let pair = option.as_config().ok_or(WrongType)?;
        let key = scalar(pair.get("key").ok_or(WrongType)?)?;
        let value = pair.get("value").ok_or(WrongType)?;
        settings.options.push((key, json::write(value)));
    }
    Ok(settings)
}

/// Returns the keys of a map that have no effect, each with the known key that it is similar to.
fn unknown(path: &str, map: &Dict, known: &[&str]) -> Vec<String> {
    let keys = map.iter().map(|entry| &*entry.key).filter(|key| !known.contains(key));
    let message = |key: &str| {
        let hint = nearest(key, known.iter().copied());
        let hint = hint.map_or_else(String::new, |it| format!("; did you mean '{path}{it}'?"));
        format!("unknown key '{path}{key}'{hint}")
    };
    keys.map(message).collect()
}

fn read_config(config: &Dict) -> Result<Settings, WrongType> {
    let strings = |key| {
        let items = list(config.get(key))?;
        items.map(|items| items.iter().map(scalar).collect::<Result<Vec<_>, _>>()).transpose()
    };
    let string = |key| given(config.get(key)).map(scalar).transpose();
    let boolean = |key| match given(config.get(key)) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(WrongType),
    };
    let packages = mapping(config.get("package_maps"))?.map(|packages| {
        let pair = |entry: &Entry| Ok((entry.key.to_string(), scalar(&entry.value)?));
        packages.iter().map(pair).collect::<Result<Vec<_>, _>>()
    });
    let file = strings("file")?;
    Ok(Settings {
        files: strings("files")?.filter(|files| !files.is_empty()).or(file),
        output: string("output")?,
        overrides: strings("overrides")?,
        path_selector: strings("path_selector")?,
        strict_range_check: boolean("strict_range_check")?,
        disable_none: boolean("disable_none")?,
        debug: boolean("debug")?,
        sort_keys: boolean("sort_keys")?,
        show_hidden: boolean("show_hidden")?,
        include_schema_type_path: boolean("include_schema_type_path")?,
        package_maps: packages.transpose()?,
        format: string("format")?,
        options: Vec::new(),
        unknown: Vec::new(),
    })
}

fn given(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_none_or_undefined())
}

fn mapping(value: Option<&Value>) -> Field<&Dict> {
    given(value).map(|value| value.as_config().ok_or(WrongType)).transpose()
}

fn list(value: Option<&Value>) -> Field<&[Value]> {
    given(value).map(|value| value.as_list().ok_or(WrongType)).transpose()
}

fn scalar(value: &Value) -> Result<String, WrongType> {
    match value {
        Value::Str(_) | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            Ok(kcl_value::show(value))
        }
        _ => Err(WrongType),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sections() {
        let settings = Settings::parse(
            "kcl_cli_configs:\n  file: [../base/base.k, main.k]\n  disable_none: true\n  \
             other: 1\n  package_maps:\n    a: ./a\nkcl_options:\n- key: n\n  value: 3\n- key: l\n  \
             value: [1, x]\n- key: z\n  value: null\n",
        )
        .unwrap();
        assert_eq!(settings.files.unwrap(), ["../base/base.k", "main.k"]);
        assert_eq!(settings.disable_none, Some(true));
        assert_eq!(settings.package_maps.unwrap(), [("a".to_owned(), "./a".to_owned())]);
        let options: Vec<(&str, &str)> =
            settings.options.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(options, [("n", "3"), ("l", "[1, \"x\"]"), ("z", "null")]);
    }

    #[test]
    fn wrong_types_are_refused() {
        for text in [
            "- a\n",
            "kcl_cli_configs: 1\n",
            "kcl_cli_configs:\n  file: main.k\n",
            "kcl_cli_configs:\n  debug: 1\n",
            "kcl_options:\n- key: a\n",
            "kcl_cli_configs: [\n",
        ] {
            assert_eq!(Settings::parse(text), None, "{text}");
        }
        for text in ["", "kcl_options: null\n"] {
            assert_eq!(Settings::parse(text), Some(Settings::default()), "{text}");
        }
    }

    #[test]
    fn unknown_keys_are_named() {
        let settings = Settings::parse(
            "kcl_cli_config: {}\nkcl_cli_configs: {fils: [], fast_eval: true, x: 1}\na: 1\n",
        )
        .unwrap();
        assert_eq!(
            settings.unknown,
            [
                "unknown key 'kcl_cli_configs.fils'; did you mean 'kcl_cli_configs.files'?",
                "unknown key 'kcl_cli_configs.x'",
                "unknown key 'kcl_cli_config'; did you mean 'kcl_cli_configs'?",
                "unknown key 'a'",
            ]
        );
    }
}
