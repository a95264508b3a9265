//! Servers that tests need and that not every machine has.

/// Returns the address of a server, which `.ci/store` puts into a variable; none, with a word,
/// where it is not set. Where `KUSION_TEST_SERVERS` is set the tests may not be skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
#[expect(clippy::missing_panics_doc, reason = "a test that must run and cannot fails")]
pub fn server(variable: &str) -> Option<String> {
    let address = std::env::var(variable).ok();
    if address.is_none() {
        let is_needed = std::env::var_os("KUSION_TEST_SERVERS").is_some();
        assert!(!is_needed, "`{variable}` must be set where `KUSION_TEST_SERVERS` is");
        eprintln!("skipped: `{variable}` is not set (`.ci/store` starts the servers)");
    }
    address
}
