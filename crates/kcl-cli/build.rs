//! Links the command so that it starts quickly: in the `dist` profile with the functions of short
//! runs side by side and without shared libraries. It is position independent in all profiles.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The functions that short runs call.
const ORDER: &str = "order.txt";

/// Libraries of the system that the standard library is linked with.
const LIBRARIES: [&str; 7] = ["gcc_s", "util", "rt", "pthread", "m", "dl", "c"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={ORDER}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_static =
        env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|found| found.contains("crt-static"));
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") || is_static {
        return;
    }
    let out = env::var("OUT_DIR").unwrap_or_default();
    let linker = Linker { out: Path::new(&out) };
    let is_dist = profile(linker.out).is_some_and(|name| name == "dist");
    if is_dist && let Some(option) = in_order(&linker) {
        println!("cargo:rustc-link-arg-bins={option}");
    }
    let is_native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    if is_native
        && is_dist
        && let Some(options) = statically(&linker)
    {
        // Finding and loading shared libraries takes a third of a short run.
        for option in options {
            println!("cargo:rustc-link-arg-bins={option}");
        }
    } else {
        // Most functions of the system's libraries are never called.
        println!("cargo:rustc-link-arg-bins=-Wl,-z,lazy");
    }
}

/// Returns the name of the profile that is built: the folder that holds the folder `build`. The
/// variable `PROFILE` would only name the profile that it inherits from.
fn profile(out: &Path) -> Option<&std::ffi::OsStr> {
    let build = out.ancestors().find(|it| it.file_name().is_some_and(|name| name == "build"))?;
    build.parent()?.file_name()
}

/// The linker that cargo will use, and a folder for what it needs.
struct Linker<'a> {
    out: &'a Path,
}

impl Linker<'_> {
    /// Whether a program that is linked with these options starts.
    fn starts_with(&self, options: &[String]) -> bool {
        self.takes(options)
            && Command::new(self.out.join("probe")).status().is_ok_and(|it| it.success())
    }

    /// Whether a program can be linked with these options.
    fn takes(&self, options: &[String]) -> bool {
        let source = self.out.join("probe.rs");
        if fs::write(&source, "fn main() {}\n").is_err() {
            return false;
        }
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.arg(&source).arg("-o").arg(self.out.join("probe"));
        rustc.args(["--target", &env::var("TARGET").unwrap_or_default()]);
        rustc.args(env::var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}")));
        let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
        rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
        rustc.args(options.iter().map(|option| format!("-Clink-arg={option}")));
        rustc.output().is_ok_and(|output| output.status.success())
    }
}

/// Writes a linker script that puts the functions that short runs call together, so that few
/// pieces of the program are mapped, and gives the option for it; none if the linker does not
/// know such scripts.
fn in_order(linker: &Linker<'_>) -> Option<String> {
    let order = fs::read_to_string(ORDER).ok()?;
    let patterns = order.lines().filter(|line| !line.starts_with('#'));
    let lines: Vec<String> =
        patterns.map(|name| format!("    *(.text.{name} .text.unlikely.{name})")).collect();
    let path = linker.out.join("order.ld");
    let script = format!(
        "SECTIONS {{\n  .text.in_order : {{\n{}\n  }}\n}} INSERT BEFORE .text;\n",
        lines.join("\n")
    );
    fs::write(&path, script).ok()?;
    let option = format!("-Wl,-T,{}", path.display());
    linker.takes(std::slice::from_ref(&option)).then_some(option)
}

/// Writes linker scripts that lead from the shared libraries to the static ones, and gives the
/// options for them; none if the system has no static ones, or the linker can't use them.
fn statically(linker: &Linker<'_>) -> Option<Vec<String>> {
    // Linkers that read archives once, in turn, need those together that call each other.
    let basic = [archive("libc.a")?, archive("libgcc.a")?, archive("libgcc_eh.a")?].join(" ");
    for library in LIBRARIES {
        let archives = match library {
            "c" | "gcc_s" => basic.clone(),
            library => archive(&format!("lib{library}.a"))?,
        };
        let script = linker.out.join(format!("lib{library}.so"));
        fs::write(script, format!("GROUP ( {archives} )\n")).ok()?;
    }
    let options = vec!["-static-pie".to_owned(), format!("-L{}", linker.out.display())];
    // The addresses are filled in at each start: a short list of them is read sooner. The code that
    // starts the program must know the form of the list.
    let packed = [options.clone(), vec!["-Wl,-z,pack-relative-relocs".to_owned()]].concat();
    [packed, options].into_iter().find(|options| linker.starts_with(options))
}

/// Where the system keeps a static library.
fn archive(name: &str) -> Option<String> {
    let found = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    // The compiler says the bare name if it does not find the file.
    Path::new(&path).is_absolute().then_some(path)
}
