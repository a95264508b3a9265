//! Programs as they are printed.

use kcl_syntax::{parse, print};

fn printed(text: &str) -> String {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    print(&parsed.module, text)
}

#[test]
fn conditions_in_comprehensions_stay_on_their_line() {
    for text in [
        "x = [if a: b for b in c]\n",
        "x = [if a: b else: d for b in c]\n",
        "x = [if a: if d: b elif e: 1 else: 2 for b in c]\n",
    ] {
        let once = printed(text);
        assert_eq!(once.lines().count(), text.lines().count(), "{once}");
        assert_eq!(printed(&once), once);
    }
}
