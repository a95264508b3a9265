//! The reader of the conformance vectors.

use std::process::ExitCode;
use testkit::{Corpus, Suite};

fn main() -> ExitCode {
    let mut suite = Suite::default();
    suite.add_with("cases_are_read", Corpus::locate(), |corpus| cases_are_read(&corpus));
    suite.run()
}

fn cases_are_read(corpus: &Corpus) {
    let cases = corpus.cases("parse").expect("the vectors are readable");
    assert!(cases.len() > 100);
    assert!(cases.iter().all(|case| case.text("file") == Some("main.k")));
    assert!(cases.iter().all(|case| case.texts("expect") == ["expect.json"]));
}
