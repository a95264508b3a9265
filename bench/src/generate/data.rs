//! Hello, and large literals.

use super::Numbers;
use std::fmt::Write as _;

pub(super) const TINY: &str = "greeting = \"hello\"\nanswer = 6 * 7\n";
pub(super) const TINY_JSONNET: &str = "{ greeting: 'hello', answer: 6 * 7 }\n";

/// `n` records of a dozen leaves: in one list, in one dict, or each in a variable of its own.
pub(super) fn literals(kind: &str, n: usize) -> (String, Option<String>) {
    let mut numbers = Numbers::new(11);
    let records: Vec<Record> = (0..n).map(|i| Record::new(i, &mut numbers)).collect();
    let (mut kcl, mut jsonnet) = (String::new(), String::from("{\n"));
    let (open, close) = match kind {
        "list" => ("records = [\n", "]\n"),
        "dict" => ("records = {\n", "}\n"),
        _ => ("", ""),
    };
    kcl.push_str(open);
    jsonnet.push_str(&open.replace(" =", ":"));
    for (i, record) in records.iter().enumerate() {
        let (depth, key, key_jsonnet) = match kind {
            "list" => (1, String::new(), String::new()),
            "dict" => (1, format!("r{i:06} = "), format!("r{i:06}: ")),
            _ => (0, format!("r{i:06} = "), format!("r{i:06}: ")),
        };
        let indent = "    ".repeat(depth);
        let _ = writeln!(kcl, "{indent}{key}{}", record.show(depth, "=", "", ["True", "False"]));
        let shown = record.show(depth, ":", ",", ["true", "false"]);
        let _ = writeln!(jsonnet, "{indent}{key_jsonnet}{shown},");
    }
    kcl.push_str(close);
    jsonnet.push_str(&close.replace('\n', ",\n"));
    jsonnet.push_str("}\n");
    (kcl, Some(jsonnet))
}

struct Record {
    id: usize,
    region: u64,
    share: u64,
    is_active: bool,
    ports: [u64; 3],
    memory: u64,
    note: String,
}

impl Record {
    fn new(id: usize, numbers: &mut Numbers) -> Self {
        Self {
            id,
            region: numbers.below(12),
            share: numbers.below(4_000),
            is_active: numbers.below(3) > 0,
            ports: [0; 3].map(|_| 1024 + numbers.below(60_000)),
            memory: 1 << numbers.below(12),
            note: "word ".repeat(1 + numbers.below(4) as usize),
        }
    }

    /// The record as source text; `sign` stands behind a key, `end` behind an entry.
    fn show(&self, depth: usize, sign: &str, end: &str, booleans: [&str; 2]) -> String {
        let [p, q, r] = self.ports;
        let active = booleans[usize::from(!self.is_active)];
        // A share in quarters, so that its digits are exact.
        let (whole, part) = (self.share / 4, ["0", "25", "5", "75"][self.share as usize % 4]);
        let lines = [
            format!("key{sign} \"record-{:06}\"{end}", self.id),
            format!("number{sign} {}{end}", self.id),
            format!("active{sign} {active}{end}"),
            format!("share{sign} {whole}.{part}{end}"),
            format!("place{sign} {{zone{sign} \"z{0}\", region{sign} \"r{0}\"}}{end}", self.region),
            format!("network{sign} {{"),
            format!("    ports{sign} [{p}, {q}, {r}]{end}"),
            format!("    policy{sign} {{"),
            format!("        memory{sign} \"{}Mi\"{end}", self.memory),
            format!("        inner{sign} {{deep{sign} {{note{sign} \"{}\"}}}}{end}", self.note),
            format!("    }}{end}"),
            format!("}}{end}"),
        ];
        let indent = "    ".repeat(depth);
        let mut text = String::from("{\n");
        for line in lines {
            let line = if sign == "=" { line.replace("= ", " = ") } else { line };
            let _ = writeln!(text, "{indent}    {line}");
        }
        let _ = write!(text, "{indent}}}");
        text
    }
}
