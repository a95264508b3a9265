//! Texts inside of other forms.

/// A text in a cell of a Markdown table: on one line, without the sign between cells.
pub(crate) fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// A text in HTML.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(it),
        }
    }
    out
}
