//! One page for each code.

/// The pages, by code.
const PAGES: &[(&str, &str)] = &[
    ("E1001", include_str!("../pages/E1001.md")),
    ("E2A31", include_str!("../pages/E2A31.md")),
    ("E2D34", include_str!("../pages/E2D34.md")),
    ("E2F04", include_str!("../pages/E2F04.md")),
    ("E2G22", include_str!("../pages/E2G22.md")),
    ("E2L23", include_str!("../pages/E2L23.md")),
    ("E2L28", include_str!("../pages/E2L28.md")),
    ("E3M38", include_str!("../pages/E3M38.md")),
    ("W0001", include_str!("../pages/W0001.md")),
    ("W0002", include_str!("../pages/W0002.md")),
    ("W0003", include_str!("../pages/W0003.md")),
    ("ImportPositionWarning", include_str!("../pages/ImportPositionWarning.md")),
    ("ReimportWarning", include_str!("../pages/ReimportWarning.md")),
    ("UnusedImportWarning", include_str!("../pages/UnusedImportWarning.md")),
    ("L1001", include_str!("../pages/L1001.md")),
    ("L1002", include_str!("../pages/L1002.md")),
    ("L1003", include_str!("../pages/L1003.md")),
    ("L1004", include_str!("../pages/L1004.md")),
    ("L1005", include_str!("../pages/L1005.md")),
    ("L1006", include_str!("../pages/L1006.md")),
    ("L1007", include_str!("../pages/L1007.md")),
    ("L1008", include_str!("../pages/L1008.md")),
    ("L1009", include_str!("../pages/L1009.md")),
    ("L1010", include_str!("../pages/L1010.md")),
];

/// The page of a code, or of the name of a lint; `None` if there is no such code. The first line
/// is a title, programs are in fences: `kcl wrong` has a finding of the code, `kcl right` has none.
pub fn explain(code: &str) -> Option<&'static str> {
    let code = crate::table::by_word(code).map_or(code, |lint| lint.code);
    let page = PAGES.iter().find(|(known, _)| known.eq_ignore_ascii_case(code));
    page.map(|(_, text)| *text)
}

/// All codes that have a page.
pub fn explained_codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}
