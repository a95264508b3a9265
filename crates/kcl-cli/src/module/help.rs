//! The texts of `kcl mod --help`.

/// What `kcl mod --help` says.
pub(crate) const MOD: &str = "\
Manage a module and its dependencies.

Usage: kcl mod <command> [options]

Commands:
  init      Create a module
  add       Add a dependency
  remove    Remove dependencies
  update    Choose versions anew and write kcl.mod.lock
  tree      Print the dependencies as a tree
  graph     Print the dependencies as pairs of modules
  metadata  Print the folders of the dependencies as JSON
  vendor    Copy the dependencies into the folder vendor
  pull      Download dependencies, or one package
  push      Upload a package to a registry
  pkg       Make the archive of a package

Run 'kcl mod <command> --help' for its options.
";

/// Returns what `--help` of a command of `kcl mod` says.
pub(crate) fn text(command: &str) -> Option<&'static str> {
    Some(match command {
        "init" => INIT,
        "add" => ADD,
        "remove" | "rm" => REMOVE,
        "update" => UPDATE,
        "tree" => TREE,
        "graph" => GRAPH,
        "metadata" => METADATA,
        "vendor" => VENDOR,
        "pull" => PULL,
        "push" => PUSH,
        "pkg" => PKG,
        _ => return None,
    })
}

const INIT: &str = "\
Create a module: kcl.mod and main.k.

Usage: kcl mod init [options] [name]

With a name, the module is created in a new folder of this name.

Options:
  -q, --quiet  Print nothing
  -h, --help   Print this text
";

const ADD: &str = "\
Add a dependency to kcl.mod, download it and write kcl.mod.lock.

Usage: kcl mod add [options] [package]

A package is a name or name:version of the default registry (ghcr.io/kcl-lang, or
KPM_REG and KPM_REPO), a URL (oci://..., git://..., https://....git) or a folder.
Without a version, the newest one is taken.

Examples:
  kcl mod add k8s:1.31
  kcl mod add oci://ghcr.io/kcl-lang/k8s --tag 1.31
  kcl mod add --git https://github.com/kcl-lang/konfig --tag v0.4.0
  kcl mod add ../lib

Options:
      --git <url>        Take the package from a Git repository
      --oci <url>        Take the package from an OCI repository
  -t, --tag <tag>        Tag of the repository
      --commit <commit>  Commit of the Git repository
      --branch <branch>  Branch of the Git repository
      --package <path>   Folder or name of the package in the Git repository
      --rename <name>    Name by which files import the package
      --offline          Use only what was downloaded before
  -q, --quiet            Print nothing
  -h, --help             Print this text
";

const REMOVE: &str = "\
Remove dependencies from kcl.mod and kcl.mod.lock.

Usage: kcl mod remove [options] <name>...

Options:
      --offline  Use only what was downloaded before
  -q, --quiet    Print nothing
  -h, --help     Print this text
";

const UPDATE: &str = "\
Choose versions anew, download them and write kcl.mod.lock.

Usage: kcl mod update [options] [name | name:version]...

Without names, all dependencies are updated: ranges get their newest version, and tags
and branches the content that they have now. With a version, kcl.mod is changed, too.

Options:
      --offline  Use only what was downloaded before
  -q, --quiet    Print nothing
  -h, --help     Print this text
";

const TREE: &str = "\
Print the dependencies of the module as a tree.

Usage: kcl mod tree [options]

(*) marks a package whose dependencies are printed above.

Options:
      --offline  Use only what was downloaded before
      --locked   Fail if kcl.mod.lock is not complete
  -q, --quiet    Print no progress
  -h, --help     Print this text
";

const GRAPH: &str = "\
Print the dependencies of the module as pairs: who depends on what.

Usage: kcl mod graph [options]

Options:
      --offline  Use only what was downloaded before
      --locked   Fail if kcl.mod.lock is not complete
  -q, --quiet    Print no progress
  -h, --help     Print this text
";

const METADATA: &str = "\
Print the names, versions and folders of the dependencies as JSON.

Usage: kcl mod metadata [options]

Options:
      --offline  Use only what was downloaded before
      --locked   Fail if kcl.mod.lock is not complete
  -q, --quiet    Print no progress
  -h, --help     Print this text
";

const VENDOR: &str = "\
Copy the downloaded dependencies into the folder vendor of the module.

Usage: kcl mod vendor [options]

Packages in vendor are used in the place of those that were downloaded, after a check
against kcl.mod.lock.

Options:
      --offline  Use only what was downloaded before
      --locked   Fail if kcl.mod.lock is not complete
  -q, --quiet    Print nothing
  -h, --help     Print this text
";

const PULL: &str = "\
Download the dependencies of the module, or one package into a folder.

Usage: kcl mod pull [options] [package] [folder]

Without a package, all dependencies of the module are downloaded. A package is named as
for 'kcl mod add'; it is copied to name_version in the folder (default: this one).

Options:
      --git <url>        Take the package from a Git repository
      --oci <url>        Take the package from an OCI repository
  -t, --tag <tag>        Tag of the repository
      --commit <commit>  Commit of the Git repository
      --branch <branch>  Branch of the Git repository
      --package <path>   Folder or name of the package in the Git repository
      --offline          Use only what was downloaded before
      --locked           Fail if kcl.mod.lock is not complete
  -q, --quiet            Print nothing
  -h, --help             Print this text
";

const PUSH: &str = "\
Upload the package of the module to a registry.

Usage: kcl mod push [options] [oci://host/repository[:tag]]

Without a URL, it goes to the default registry (KPM_REG and KPM_REPO). Without a tag, the
version of kcl.mod is the tag. Run 'kcl registry login' first.

Options:
      --tar-path <file>  Upload an archive of 'kcl mod pkg'
      --vendor           Include the folder vendor
  -q, --quiet            Print nothing
  -h, --help             Print this text
";

const PKG: &str = "\
Make the archive of the package of the module: name_version.tar.

Usage: kcl mod pkg [options]

[package] of kcl.mod says what is in it: include and exclude are lists of patterns.

Options:
      --target <folder>  Folder for the archive (default: that of kcl.mod)
      --vendor           Include the folder vendor
  -q, --quiet            Print nothing
  -h, --help             Print this text
";
