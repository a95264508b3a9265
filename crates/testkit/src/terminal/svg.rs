//! Draws the frames of a terminal as an SVG file that readers of a document see as a picture.
//!
//! The picture has its own background, so it is readable on light and dark pages. Several frames
//! follow each other as an animation; where there are no animations, the last frame is shown.

use super::screen::{Attributes, Frame, Line, Run};
use std::fmt::Write as _;

/// Size of the font and of a character cell, in pixels.
const FONT: f64 = 13.0;
const CELL: (f64, f64) = (7.8, 18.0);
/// Space around the text, in pixels.
const MARGIN: f64 = 16.0;
/// Seconds for which a frame is shown, and how much longer the last one.
const SECONDS: f64 = 2.0;
const LAST: f64 = 4.0;

const STYLE: &str = "\
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;
font-size:13px;fill:#d8dee9;white-space:pre}
.b{font-weight:bold;fill:#ffffff}.d{fill:#8b949e}
.c1{fill:#ff7b72}.c2{fill:#7ee787}.c3{fill:#e3b341}.c4{fill:#79c0ff}.c5{fill:#d2a8ff}.c6{fill:#76e3ea}
";

/// Draws frames; `title` is the text for readers who do not see the picture.
pub fn picture(title: &str, columns: usize, frames: &[Frame]) -> String {
    let rows: Vec<Vec<Line>> = frames.iter().map(|it| wrap(&it.lines, columns)).collect();
    let n_lines = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = CELL.0 * columns as f64 + 2.0 * MARGIN;
    let height = CELL.1 * n_lines as f64 + 2.0 * MARGIN;
    let title = escape(title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" xml:space=\"preserve\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{}</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" \
         fill=\"#161b22\" stroke=\"#30363d\"/>\n",
        animation(frames.len())
    );
    for (number, rows) in rows.iter().enumerate() {
        let _ = writeln!(svg, "<g class=\"f f{number}\">");
        for (row, line) in rows.iter().enumerate() {
            let y = MARGIN + CELL.1 * row as f64 + FONT;
            let mut column = 0;
            for run in line {
                let length = run.text.chars().count();
                let shown = run.text.trim_end();
                let indent = shown.len() - shown.trim_start().len();
                let shown = shown.trim_start();
                if !shown.is_empty() {
                    let x = MARGIN + CELL.0 * (column + indent) as f64;
                    let cells = CELL.0 * shown.chars().count() as f64;
                    let class = class(run.attributes);
                    let _ = writeln!(
                        svg,
                        "<text x=\"{x:.1}\" y=\"{y}\" textLength=\"{cells:.1}\"{class}>{}</text>",
                        escape(shown)
                    );
                }
                column += length;
            }
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Breaks lines that are longer than the screen is wide.
fn wrap(lines: &[Line], columns: usize) -> Vec<Line> {
    let mut rows = Vec::new();
    for line in lines {
        let mut row = Line::new();
        let mut column = 0;
        for run in line {
            let mut chars: &str = &run.text;
            while !chars.is_empty() {
                if column == columns {
                    rows.push(std::mem::take(&mut row));
                    column = 0;
                }
                let end = chars.char_indices().nth(columns - column).map_or(chars.len(), |it| it.0);
                let (part, rest) = chars.split_at(end);
                column += part.chars().count();
                row.push(Run { attributes: run.attributes, text: part.to_owned() });
                chars = rest;
            }
        }
        rows.push(row);
    }
    rows
}

/// Returns rules by which each frame is shown in its turn.
fn animation(n_frames: usize) -> String {
    if n_frames < 2 {
        return String::new();
    }
    let total = SECONDS * n_frames as f64 + LAST;
    let mut rules = format!(
        ".f{{visibility:hidden}}.f{}{{visibility:visible}}\n\
         @media (prefers-reduced-motion:no-preference){{\n",
        n_frames - 1
    );
    for number in 0..n_frames {
        let start = 100.0 * SECONDS * number as f64 / total;
        let end = 100.0 * SECONDS * (number + 1) as f64 / total;
        let before = if number > 0 { "0%{visibility:hidden}" } else { "" };
        let after = if number + 1 == n_frames {
            String::new()
        } else {
            format!("{end:.2}%{{visibility:hidden}}")
        };
        let _ = writeln!(
            rules,
            ".f{number}{{animation:f{number} {total}s step-end infinite}}\
             @keyframes f{number}{{{before}{start:.2}%{{visibility:visible}}{after}}}"
        );
    }
    rules.push_str("}\n");
    rules
}

fn class(attributes: Attributes) -> String {
    let mut classes = Vec::new();
    if attributes.is_bold {
        classes.push("b".to_owned());
    }
    if attributes.is_dim {
        classes.push("d".to_owned());
    }
    classes.extend(attributes.colour.map(|it| format!("c{it}")));
    if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::screen::Screen;
    use super::*;

    fn frame(output: &str) -> Frame {
        let mut screen = Screen::new(20);
        screen.feed(output.as_bytes()).unwrap();
        screen.frame()
    }

    #[test]
    fn texts_are_placed_by_line_and_column() {
        let svg = picture("a & b", 20, &[frame("x <y>\r\n  \u{1b}[32mok\u{1b}[0m  fine")]);
        for part in [
            "<title>a &amp; b</title>",
            "<text x=\"16.0\" y=\"29\" textLength=\"39.0\">x &lt;y&gt;</text>",
            "<text x=\"31.6\" y=\"47\" textLength=\"15.6\" class=\"c2\">ok</text>",
            "<text x=\"62.8\" y=\"47\" textLength=\"31.2\">fine</text>",
        ] {
            assert!(svg.contains(part), "{svg}");
        }
        assert!(!svg.contains("keyframes"));
    }

    #[test]
    fn long_lines_are_broken() {
        let svg = picture("t", 3, &[frame("abcdefg\r\nh")]);
        let texts: Vec<&str> = svg.lines().filter(|it| it.starts_with("<text")).collect();
        let shown = ["y=\"29\"", "y=\"47\"", "y=\"65\"", "y=\"83\""];
        assert!(texts.iter().zip(shown).all(|(text, y)| text.contains(y)), "{svg}");
        assert!(texts.len() == 4 && texts[1].ends_with(">def</text>"), "{svg}");
    }

    #[test]
    fn each_frame_is_shown_in_its_turn() {
        let svg = picture("t", 20, &[frame("a"), frame("b")]);
        for part in [
            ".f1{visibility:visible}",
            "@keyframes f0{0.00%{visibility:visible}25.00%{visibility:hidden}}",
            "@keyframes f1{0%{visibility:hidden}25.00%{visibility:visible}}",
        ] {
            assert!(svg.contains(part), "{svg}");
        }
    }
}
