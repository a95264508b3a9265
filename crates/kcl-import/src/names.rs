//! Names that are safe in KCL.

use kcl_data::name_text;
use std::collections::HashSet;

/// Turns words of any form into a name of a schema: `cron-tab.spec` into `CronTabSpec`.
pub(crate) fn schema_name(words: &str) -> String {
    let mut name = pascal(words);
    if name.is_empty() || !name.starts_with(|it: char| it.is_ascii_alphabetic()) {
        name.insert(0, 'S');
    }
    // Names with these ends are those of mixins and protocols; the others are constants.
    let is_taken = name.ends_with("Mixin")
        || name.ends_with("Protocol")
        || matches!(name.as_str(), "True" | "False" | "None" | "Undefined");
    if is_taken {
        name.push_str("Type");
    }
    name
}

/// Words without what separates them, each with a capital letter.
pub(crate) fn pascal(words: &str) -> String {
    let mut name = String::with_capacity(words.len());
    let mut is_start = true;
    for it in words.chars() {
        if !it.is_ascii_alphanumeric() {
            is_start = true;
            continue;
        }
        if std::mem::take(&mut is_start) {
            name.push(it.to_ascii_uppercase());
        } else {
            name.push(it);
        }
    }
    name
}

/// A name in lower case with `_` between words, for files and packages.
pub(crate) fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, it) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at)).copied();
        let after = chars.get(at + 1).copied();
        if it.is_ascii_uppercase() {
            let ends = before.is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
            let starts = before.is_some_and(|it| it.is_ascii_uppercase())
                && after.is_some_and(|it| it.is_ascii_lowercase());
            if ends || starts {
                out.push('_');
            }
            out.push(it.to_ascii_lowercase());
        } else if it.is_ascii_alphanumeric() {
            out.push(*it);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    out.trim_matches('_').to_owned()
}

/// The name of a file without its ending. Files that end with `_test` would be tests.
pub(crate) fn file_name(name: &str) -> String {
    let name = snake(name);
    match name.as_str() {
        "" => "schema_".into(),
        _ if name.ends_with("_test") => format!("{name}_schema"),
        _ => name,
    }
}

/// A part of a package path.
pub(crate) fn package_name(part: &str) -> String {
    let mangle = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '_' };
    let mut name: String = part.chars().map(mangle).collect();
    if !name.starts_with(|it: char| it.is_ascii_alphabetic()) {
        name.insert(0, 'p');
    }
    match name_text(&name) {
        Some(safe) if safe == name => name,
        _ => format!("{name}_"),
    }
}

/// Returns a name that is not yet used, and marks it as used. Names that differ only in case are
/// the same: files on some systems are.
pub(crate) fn unique(name: &str, used: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut n = 2;
    while !used.insert(candidate.to_ascii_lowercase()) {
        candidate = format!("{name}{n}");
        n += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safe_names() {
        let names = ["cron-tab.spec", "9lives", "FooMixin", "IPProtocol", "None", "", "é"];
        let wanted =
            ["CronTabSpec", "S9lives", "FooMixinType", "IPProtocolType", "NoneType", "S", "S"];
        assert_eq!(names.map(schema_name), wanted);
        assert_eq!(
            ["HTTPRoute", "LoadTest", "a--b"].map(file_name),
            ["http_route", "load_test_schema", "a_b"]
        );
        assert_eq!(
            ["cert-manager.io", "v1", "import", "1x"].map(package_name),
            ["cert_manager_io", "v1", "import_", "p1x"]
        );
        let mut used = HashSet::new();
        assert_eq!(["A", "a", "A"].map(|name| unique(name, &mut used)), ["A", "a2", "A3"]);
    }
}
