//! The form of lcov, which code hosts and editors read.

use super::{Coverage, FileCoverage, Part, PartKind};
use std::collections::HashMap;
use std::fmt::Write as _;

impl Coverage {
    /// The report as a tracefile of lcov: schemas and lambdas are functions, branches and rules are
    /// branches.
    pub fn to_lcov(&self) -> String {
        let mut text = String::new();
        self.files.iter().for_each(|file| write_file(&mut text, file));
        text
    }
}

fn write_file(text: &mut String, file: &FileCoverage) {
    // A line break would begin another record.
    let path: String = file.path.chars().filter(|c| !c.is_control()).collect();
    let _ = writeln!(text, "TN:\nSF:{path}");
    let is_function = |part: &&Part| matches!(part.kind, PartKind::Schema | PartKind::Lambda);
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut calls = String::new();
    let (mut n_found, mut n_hit) = (0, 0);
    for part in file.parts.iter().filter(is_function) {
        // Names of functions are unique in a file.
        let seen = names.entry(&part.name).or_default();
        *seen += 1;
        let name = match *seen {
            1 => part.name.clone(),
            n => format!("{}#{n}", part.name),
        };
        let _ = writeln!(text, "FN:{},{name}", part.line);
        let _ = writeln!(calls, "FNDA:{},{name}", part.yes);
        n_found += 1;
        n_hit += usize::from(part.yes > 0);
    }
    let _ = writeln!(text, "{calls}FNF:{n_found}\nFNH:{n_hit}");
    (n_found, n_hit) = (0, 0);
    for (block, part) in file.parts.iter().filter(|part| !is_function(part)).enumerate() {
        for (branch, times) in [part.yes, part.no].into_iter().enumerate() {
            let line = part.line;
            let _ = match part.runs() {
                0 => writeln!(text, "BRDA:{line},{block},{branch},-"),
                _ => writeln!(text, "BRDA:{line},{block},{branch},{times}"),
            };
            n_found += 1;
            n_hit += usize::from(times > 0);
        }
    }
    let _ = writeln!(text, "BRF:{n_found}\nBRH:{n_hit}");
    let lines = file.lines();
    for (line, runs) in &lines {
        let _ = writeln!(text, "DA:{line},{runs}");
    }
    let n_hit = lines.values().filter(|runs| **runs > 0).count();
    let _ = writeln!(text, "LF:{}\nLH:{n_hit}\nend_of_record", lines.len());
}
