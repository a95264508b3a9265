//! Links the command so that it starts quickly.

use std::env;

fn main() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_static =
        env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|found| found.contains("crt-static"));
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        // Addresses that are fixed when linking need not be fixed at each start, and most
        // functions of the system's libraries are never called: a sixth of a short run.
        println!("cargo:rustc-link-arg-bins=-no-pie");
        println!("cargo:rustc-link-arg-bins=-Wl,-z,lazy");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
