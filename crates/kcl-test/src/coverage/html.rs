//! Pages for a browser: a table of files, and the source of each with what no test reached.

use super::{Coverage, FileCoverage, Part, PartKind, Tally};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// One file of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name in the folder of the report.
    pub file: String,
    /// Its text.
    pub text: String,
}

const STYLE: &str = "\
body{font-family:system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;line-height:1.5}\
table{border-collapse:collapse}th,td{border:1px solid #8884;padding:.3rem .6rem;text-align:right}\
th:first-child,td:first-child{text-align:left}pre{line-height:1.4;overflow:auto}\
pre span{display:block}.n{display:inline-block;width:4em;color:#888;text-align:right;\
padding-right:1em;user-select:none}.all{background:#2a82}.some{background:#ca22}.none{background:#d332}\
pre em{color:#a33;margin-left:2em}";

impl Coverage {
    /// The report as pages: `index.html`, and one for each file. They need no network.
    pub fn to_html(&self) -> Vec<Page> {
        let mut rows = String::new();
        for (at, file) in self.files.iter().enumerate() {
            let name = format!("<a href=\"{}\">{}</a>", page_file(at), escaped(&file.path));
            row(&mut rows, &name, &|kind| file.tally(kind));
        }
        row(&mut rows, "<b>total</b>", &|kind| self.tally(kind));
        let mut head = String::new();
        for kind in PartKind::ALL {
            let _ = write!(head, "<th>{}</th>", kind.plural());
        }
        let body = format!(
            "<h1>Coverage</h1>\n<table><tr><th>File</th>{head}<th>All</th></tr>\n{rows}</table>\n"
        );
        let mut pages = vec![Page { file: "index.html".into(), text: page("Coverage", &body) }];
        for (at, file) in self.files.iter().enumerate() {
            let text = page(&escaped(&file.path), &source(file));
            pages.push(Page { file: page_file(at), text });
        }
        pages
    }
}

fn page_file(at: usize) -> String {
    format!("file-{}.html", at + 1)
}

fn row(text: &mut String, name: &str, tally: &dyn Fn(Option<PartKind>) -> Tally) {
    let _ = write!(text, "<tr><td>{name}</td>");
    for kind in PartKind::ALL {
        let Tally { covered, total } = tally(Some(kind));
        let _ = write!(text, "<td>{covered}/{total}</td>");
    }
    let _ = writeln!(text, "<td>{}</td></tr>", tally(None).percent());
}

/// The lines of a file, coloured by how much of their parts ran.
fn source(file: &FileCoverage) -> String {
    let mut by_line: BTreeMap<u32, Vec<&Part>> = BTreeMap::new();
    for part in &file.parts {
        by_line.entry(part.line).or_default().push(part);
    }
    let mut text = format!(
        "<p><a href=\"index.html\">All files</a></p>\n<h1>{}</h1>\n<p>{} covered</p>\n<pre>",
        escaped(&file.path),
        file.tally(None).percent(),
    );
    for (line, number) in file.text.lines().zip(1u32..) {
        let parts = by_line.get(&number).map_or(&[][..], Vec::as_slice);
        let mut tally = Tally::default();
        for part in parts {
            tally.add(part.tally());
        }
        let class = match (tally.covered, tally.total) {
            (_, 0) => "",
            (0, _) => " class=\"none\"",
            (covered, total) if covered < total => " class=\"some\"",
            _ => " class=\"all\"",
        };
        let missing: Vec<String> = parts.iter().filter_map(|part| part.missing()).collect();
        let _ = write!(text, "<span id=\"L{number}\"{class}><i class=\"n\">{number}</i>");
        text.push_str(&escaped(line));
        if !missing.is_empty() {
            let _ = write!(text, "<em>{}</em>", escaped(&missing.join("; ")));
        }
        text.push_str("</span>");
    }
    text.push_str("</pre>\n");
    text
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" \
         content=\"light dark\"><title>{title}</title><style>{STYLE}</style></head>\n<body>\n\
         {body}</body></html>\n"
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
