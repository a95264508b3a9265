//! Servers that tests need and that not every machine has.

use crate::suite::Missing;

/// Returns the address of a server, which `.ci/store` puts into a variable.
///
/// # Errors
///
/// When the variable is not set.
pub fn server(variable: &str) -> Result<String, Missing> {
    let line = format!("no server: `{variable}` is not set; `.ci/store` starts the servers");
    std::env::var(variable).map_err(|_| Missing::new(line))
}
