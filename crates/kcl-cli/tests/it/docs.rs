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

/// Runs the programs of a page: blocks of KCL, followed by what they print.
///
/// The first line of a block may name its file (`# base.k`). A block `yaml` holds the output of
/// `kcl run` on the files before it, `text` its errors, `console` the command and its output.
fn filled(page: &str) -> (String, usize) {
    let (mut text, mut n_runs) = (String::new(), 0);
    let mut files: Vec<(&str, &str)> = Vec::new();
    let mut is_over = true;
    for (at, part) in page.split("```").enumerate() {
        let (language, block) = part.split_once('\n').unwrap_or((part, ""));
        let shown = match language {
            "kcl" if at % 2 == 1 => {
                if std::mem::take(&mut is_over) {
                    files.clear();
                }
                let name = block.lines().next().and_then(|line| line.strip_prefix("# "));
                let name = name.filter(|it| it.strip_suffix(".k").is_some() && !it.contains(' '));
                files.push((name.unwrap_or("main.k"), block));
                None
            }
            "yaml" | "text" | "console" if at % 2 == 1 && !is_over => {
                is_over = true;
                n_runs += 1;
                Some(answer(&files, language, block))
            }
            _ => None,
        };
        let separator = if at == 0 { "" } else { "```" };
        text.push_str(separator);
        match shown {
            Some(shown) => text.extend([language, "\n", &shown]),
            None => text.push_str(part),
        }
    }
    (text, n_runs)
}

/// Returns what a block of output must hold.
fn answer(files: &[(&str, &str)], language: &str, block: &str) -> String {
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let run = format!("run {}", names.join(" "));
    let command = block.lines().next().and_then(|line| line.strip_prefix("$ kcl "));
    let ended = Sandbox::new(files).kcl(command.unwrap_or(&run));
    let is_error = language == "text";
    assert_eq!(ended.code != 0, is_error, "{files:?}: {}", ended.stderr);
    let said = if is_error { ended.stderr } else { ended.stdout };
    let said = said.replace("${DIR}/", "").replace("\n\n\n", "\n\n");
    let head = command.map(|line| format!("$ kcl {line}\n")).unwrap_or_default();
    format!("{head}{}\n", said.trim_end())
}

#[test]
fn the_primer() {
    let path = testkit::repository().join("docs/kcl-primer.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (filled, n_runs) = filled(&page);
    assert_eq!(n_runs, 12);
    testkit::golden::check(&path, &filled).expect("the page shows what the programs print");
}
