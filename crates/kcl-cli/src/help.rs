//! The texts of `--help` and `--version`.

/// What `kcl version` says.
pub(crate) const VERSION: &str = concat!("kcl ", env!("CARGO_PKG_VERSION"), "\n");

/// What `kcl --help` says.
pub(crate) const OVERVIEW: &str = "\
The KCL configuration language.

Usage: kcl <command> [options]

Commands:
  run       Evaluate KCL files and print the result
  batch     Compile many stacks at once
  vet       Check data files against a schema
  test      Run tests
  doc       Write documentation of schemas
  export    Write schemas as OpenAPI, JSON Schema or Protocol Buffers
  import    Turn data and schemas of other forms into KCL
  mod       Manage a module and its dependencies
  registry  Store and remove credentials of registries
  version   Print the version
  help      Print this text, or that of a command

Run 'kcl <command> --help' for its options.
";

/// What `kcl run --help` says.
pub(crate) const RUN: &str = "\
Evaluate KCL files and print the result.

Usage: kcl run [options] [files, folders or patterns | package | -]

Without files, those of the settings (kcl.yaml) or of the module (kcl.mod) are run.
With '-', the program is read from standard input. A package is a URL, oci://... or
git://...; it is downloaded and run. So are dependencies of kcl.mod that are missing.

Input:
  -D, --argument <key=value>...    Set a top-level argument, read with option()
  -Y, --setting <file>...          Read settings files instead of kcl.yaml
  -O, --overrides <path=value>...  Change values: path=value, path:value, path+=value, path-
  -E, --external <name=folder>...  Give the folder of an external package
  -t, --tag <tag>                  Tag of the package
      --offline                    Use only what was downloaded before
      --locked                     Fail if kcl.mod.lock is not complete

Output:
  -S, --path-selector <path>...    Print only these parts of the result
  -f, --format <format>            yaml (default), json or toml
  -o, --output <file>              Write the result to a file
  -n, --disable-none               Leave out what is None
  -k, --sort-keys                  Sort keys
  -H, --show-hidden                Show private names, too
      --include-schema-type-path   Add the name of the schema to its instances
      --provenance                 Print, as JSON, what set each value and what it replaced
  -q, --quiet                      Print neither warnings nor what print() writes
      --error-format <format>      text (default) or json
      --color <when>               auto (default), always or never

Evaluation:
  -r, --strict-range-check         Integers have 32 bits
  -d, --debug                      Show the calls that led to a failure
      --partial                    Schema literals keep only what is written: no defaults,
                                   nothing is required, no checks
      --complete                   Like --partial, but with defaults and checks at the end,
                                   when all files are merged
      --max-steps <n>              Stop after so many steps
      --max-depth <n>              Stop at so many nested calls
      --max-memory <bytes>         Stop when values take so much memory
      --max-output <bytes>         Stop when the output gets longer
      --timeout <duration>         Stop after so much time, such as 30s (default: no limit)
      --no-io                      Allow neither files nor the environment
      --allow-io <package>         Allow files and the environment in a dependency
      --show-usage                 Print on standard error what was used of the limits
  -h, --help                       Print this text
";

/// What `kcl batch --help` says.
pub(crate) const BATCH: &str = "\
Compile many stacks in one process.

Usage: kcl batch [options] <list | folder> [threads]

A list names a stack on each line: its working folder, then the files to run, with tabs
between. In a folder, every folder below it with a kcl.yaml or a stack.yaml is a stack.
The result of a stack is that of 'kcl run' in its folder. One that fails is reported and
does not stop the others.

Options:
  -o, --out <folder>           Write the results there: the stack a/b to a/b.yaml. A later
                               batch with this folder compiles only what changed
      --root <folder>          The folder whose paths are mirrored (default: the folder, or
                               that of all stacks of the list)
      --changed-since <rev>    Compile the stacks that a change since a git revision can
                               reach, and no others
      --full                   Compile all stacks, changed or not
  -j, --threads <n>            How many threads work (default: one per core)
  -q, --quiet                  Print neither warnings, nor what print() writes, nor a summary
      --color <when>           auto (default), always or never
  -h, --help                   Print this text

Each stack:
      --max-steps <n>          Stop after so many steps
      --max-depth <n>          Stop at so many nested calls
      --max-memory <bytes>     Stop when values take so much memory
      --max-output <bytes>     Stop when the output gets longer
      --timeout <duration>     Stop after so much time, such as 30s (default: no limit)
      --no-io                  Allow neither files nor the environment
      --allow-io <package>     Allow files and the environment in a dependency
";
