//! The manual's commands say what the manual shows.

use crate::sandbox::Sandbox;

/// The code blocks in `language`.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let parts = text.split("\n```").filter_map(|part| part.strip_prefix(language));
    parts.filter_map(|part| part.strip_prefix('\n')).collect()
}

#[test]
fn provenance_and_partials() {
    let path = testkit::repository().join("docs/provenance-and-partials.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let files = blocks(&page, "python").into_iter().map(|block| {
        let (name, text) = block.split_once('\n').expect("a block starts with its file's name");
        (name.trim_start_matches("# "), text)
    });
    let files: Vec<(&str, String)> =
        files.map(|(name, text)| (name, format!("{text}\n"))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_eq!(files.len(), 3);
    let sandbox = Sandbox::new(&files);
    let mut n_commands = 0;
    for block in blocks(&page, "console") {
        for command in block.split("$ kcl ").skip(1) {
            let (line, wanted) = command.split_once('\n').expect("a command has output");
            let ended = sandbox.kcl(line);
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{line}");
            let found = ended.stdout.replace("${DIR}", "/shop");
            assert_eq!(found.trim_end(), wanted.trim_end(), "{line}");
            n_commands += 1;
        }
    }
    assert_eq!(n_commands, 4);
}
