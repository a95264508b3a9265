//! Links the command so that it starts quickly.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Libraries of the system that the standard library is linked with.
const LIBRARIES: [&str; 7] = ["gcc_s", "util", "rt", "pthread", "m", "dl", "c"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_static =
        env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|found| found.contains("crt-static"));
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") || is_static {
        return;
    }
    // Addresses that are fixed when linking need not be fixed at each start.
    println!("cargo:rustc-link-arg-bins=-no-pie");
    let is_native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    let out = env::var("OUT_DIR").unwrap_or_default();
    if is_native && is("PROFILE", "release") && stand_ins(Path::new(&out)) {
        // Finding and loading shared libraries takes a third of a short run.
        println!("cargo:rustc-link-arg-bins=-static");
        println!("cargo:rustc-link-arg-bins=-L{out}");
    } else {
        // Most functions of the system's libraries are never called.
        println!("cargo:rustc-link-arg-bins=-Wl,-z,lazy");
    }
}

/// Writes linker scripts that lead from the shared libraries to the static ones; false if
/// the system has no static ones.
fn stand_ins(out: &Path) -> bool {
    LIBRARIES.iter().all(|library| {
        let archive = match *library {
            "gcc_s" => "libgcc_eh.a".to_owned(),
            library => format!("lib{library}.a"),
        };
        let found = Command::new("cc").arg(format!("-print-file-name={archive}")).output();
        let path = found.map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned());
        // The compiler says the bare name if it does not find the file.
        path.is_ok_and(|path| {
            Path::new(&path).is_absolute()
                && fs::write(out.join(format!("lib{library}.so")), format!("GROUP ( {path} )\n"))
                    .is_ok()
        })
    })
}
