//! Several files in one string, with expected diagnostics written under the code.
//!
//! ```text
//! #- model/app.k
//! schema App:
//!     replicas: int
//! #- main.k
//! import model
//! web = model.App { replicas = "3" }
//!                            # ^^^ error[E2G22]: expected int, got str(3)
//! ```
//!
//! A line `#- path` starts a file; text before the first one is `main.k`. An annotation is a
//! comment whose carets stand under what is meant, in the last line that is no annotation.

/// A small program for a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// The files, in the order written.
    pub files: Vec<FixtureFile>,
}

/// One file of a fixture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixtureFile {
    /// Path from the root of the fixture.
    pub path: String,
    /// The text, annotations included (to KCL they are comments).
    pub text: String,
    /// What the text says will be found in it.
    pub annotations: Vec<Annotation>,
}

/// One expected diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Line of the code meant, from 1.
    pub line: u32,
    /// Column of the first caret, from 1, in characters.
    pub col: u32,
    /// Number of carets.
    pub width: u32,
    /// `error` or `warning`.
    pub level: String,
    /// The code in brackets, if any.
    pub code: Option<String>,
    /// What follows the colon.
    pub message: String,
}

impl Fixture {
    /// Reads a fixture.
    pub fn parse(text: &str) -> Self {
        let mut files: Vec<FixtureFile> = Vec::new();
        let start = |path: &str| FixtureFile {
            path: path.trim().into(),
            text: String::new(),
            annotations: Vec::new(),
        };
        // The line break after the opening quotes belongs to the test's layout.
        for line in text.strip_prefix('\n').unwrap_or(text).split_inclusive('\n') {
            if let Some(path) = line.strip_prefix("#- ") {
                files.push(start(path));
                continue;
            }
            if files.is_empty() {
                files.push(start("main.k"));
            }
            if let Some(file) = files.last_mut() {
                file.text.push_str(line);
            }
        }
        for file in &mut files {
            file.annotations = annotations(&file.text);
        }
        Self { files }
    }

    /// Finds a file by its path.
    pub fn file(&self, path: &str) -> Option<&FixtureFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

fn annotations(text: &str) -> Vec<Annotation> {
    let mut found = Vec::new();
    let mut code_line = 0;
    for (idx, line) in text.lines().enumerate() {
        match annotation(line, code_line) {
            Some(annotation) => found.push(annotation),
            None => code_line = idx as u32 + 1,
        }
    }
    found
}

fn annotation(line: &str, code_line: u32) -> Option<Annotation> {
    let comment = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = comment.trim_start_matches('^');
    let width = comment.len() - rest.len();
    if width == 0 {
        return None;
    }
    let before = &line[..line.len() - comment.len()];
    let (head, message) = rest.trim().split_once(':').unwrap_or((rest.trim(), ""));
    let (level, code) = match head.split_once('[') {
        Some((level, code)) => (level, Some(code.trim_end_matches(']').to_owned())),
        None => (head, None),
    };
    Some(Annotation {
        line: code_line,
        col: before.chars().count() as u32 + 1,
        width: width as u32,
        level: level.trim().into(),
        code,
        message: message.trim().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_headers_is_one_file() {
        let fixture = Fixture::parse("\na = 1\nb = 2\n");
        assert_eq!(fixture.files.len(), 1);
        assert_eq!(fixture.files[0].path, "main.k");
        assert_eq!(fixture.files[0].text, "a = 1\nb = 2\n");
    }

    #[test]
    fn headers_split_files() {
        let fixture = Fixture::parse("#- a/b.k\nx = 1\n#- main.k\nimport a\n");
        assert_eq!(fixture.file("a/b.k").unwrap().text, "x = 1\n");
        assert_eq!(fixture.file("main.k").unwrap().text, "import a\n");
    }

    #[test]
    fn annotations_point_at_the_line_above() {
        let fixture = Fixture::parse(
            "
a = 1
b = c + d
#   ^ error[E2L23]: name 'c' is not defined
      # ^ warning: odd
",
        );
        let found = &fixture.files[0].annotations;
        assert_eq!((found[0].line, found[0].col, found[0].width), (2, 5, 1));
        assert_eq!(found[0].code.as_deref(), Some("E2L23"));
        assert_eq!(found[0].message, "name 'c' is not defined");
        assert_eq!((found[1].line, found[1].col), (2, 9));
        assert_eq!((found[1].level.as_str(), &found[1].code), ("warning", &None));
    }
}
