//! Adds imports.

use kcl_syntax::ast::{Module, Stmt};

/// Adds an import statement, `path` or `path as name`, behind the imports at the top of a file;
/// nothing changes if the file has it.
pub fn add_import(text: &str, import: &str) -> String {
    let module = kcl_syntax::parse(text).module;
    let words: Vec<&str> = import.split_whitespace().collect();
    let line = format!("import {}", words.join(" "));
    let mut end = module.doc.as_ref().map(|doc| doc.span.end as usize);
    for stmt in &module.body {
        let Stmt::Import(_) = &module[*stmt].kind else { break };
        if is_same(&module, text, *stmt, &words) {
            return text.to_owned();
        }
        end = Some(module[*stmt].span.end as usize);
    }
    match end {
        None => format!("{line}\n\n{text}"),
        Some(end) => {
            let at = text[end..].find('\n').map_or(text.len(), |len| end + len + 1);
            let (before, behind) = text.split_at(at);
            let newline = if before.ends_with('\n') { "" } else { "\n" };
            format!("{before}{newline}{line}\n{behind}")
        }
    }
}

fn is_same(module: &Module, text: &str, stmt: kcl_syntax::ast::StmtId, words: &[&str]) -> bool {
    let written = module[stmt].span.slice(text);
    written.split_whitespace().skip(1).eq(words.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::add_import;

    #[test]
    fn imports_go_behind_others() {
        assert_eq!(add_import("a = 1\n", "b.c"), "import b.c\n\na = 1\n");
        assert_eq!(
            add_import("import x # c\na = 1\n", "b as d"),
            "import x # c\nimport b as d\na = 1\n"
        );
        assert_eq!(add_import("import  b   as d\n", "b as d"), "import  b   as d\n");
        assert_eq!(add_import("import x", "y"), "import x\nimport y\n");
    }
}
