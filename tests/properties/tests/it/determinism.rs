//! The same input gives the same bytes.

use base_system::OsSystem;
use kcl_driver::{RunOptions, run};

#[test]
fn a_hundred_runs_of_the_web_shop_give_the_same_bytes() {
    let webshop = testkit::repository().join("examples/webshop");
    let files = ["base/base.k", "prod/main.k"].map(|file| webshop.join(file).display().to_string());
    let options = RunOptions::files(files);
    let result = || run(&OsSystem, &options).map(|output| output.result).unwrap();
    let first = result();
    assert!((1..100).all(|_| result() == first));
}
