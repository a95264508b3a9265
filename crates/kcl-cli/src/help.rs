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
  fmt       Format source files
  lint      Check source files and warn of probable mistakes
  explain   Explain a code of an error or warning
  vet       Check data files against a schema
  test      Run tests
  query     List variables, options and uses of names
  set       Change values in source files
  rename    Rename a variable, schema or attribute everywhere
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
      --no-io                      Allow neither files nor the environment nor plugins
      --allow-io <package>         Allow files, the environment and plugins in a dependency
      --plugin <name=command>      Set the program of a plugin, imported as kcl_plugin.name
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
      --no-io                  Allow neither files nor the environment nor plugins
      --allow-io <package>     Allow files, the environment and plugins in a dependency
      --plugin <name=command>  Set the program of a plugin, imported as kcl_plugin.name
";

/// What `kcl fmt --help` says.
pub(crate) const FMT: &str = "\
Format source files.

Usage: kcl fmt [options] [files or folders | -]

Without files, those of the current folder are formatted. Folders are searched for .k files, also
in folders below them; symbolic links and hidden folders there are passed. With '-', the program
is read from standard input and written to standard output.

The names of changed files are printed. A file with syntax errors is not changed: the errors are
reported, and the exit code is 1.

Options:
      --check              Change nothing: print the names of files that are not formatted, and
                           exit with 1 if there are any
      --diff               Change nothing: print what would change, and exit with 1 if anything
                           would
      --exclude <pattern>  Pass files and folders that match, such as vendor or 'a/**/*_gen.k'
      --color <when>       auto (default), always or never
  -h, --help               Print this text
";

/// What `kcl lint --help` says.
pub(crate) const LINT: &str = "\
Check source files and warn of probable mistakes.

Usage: kcl lint [options] [files or folders]

Files are checked together, as one program; folders are searched for .k files, and the files of
each folder are checked together. Without any, the current folder is searched. The exit code is 1
if there are errors.

A comment '# kcl-lint: disable=CODE' switches a lint off for its line, or for the next line if it
stands alone; 'disable-file=CODE' for the file. Levels for a module are set in its kcl.mod:

    [lint]
    missing-docs = \"warn\"

Options:
      --format <format>        text (default), json or sarif
      --fix                    Apply the fixes that change no meaning
      --set <set>              Lints to start with: reference, default or all
      --off <lint,...>         Do not look for these, by code or name
      --warn <lint,...>        Warn of these
      --error <lint,...>       Take these for errors
      --exclude <pattern>      Pass files and folders that match
  -E, --external <name=folder> Give the folder of an external package
      --color <when>           auto (default), always or never
  -h, --help                   Print this text
";

/// What `kcl explain --help` says.
pub(crate) const EXPLAIN: &str = "\
Explain a code of an error or warning.

Usage: kcl explain [code or name of a lint]

Without a code, all codes are listed.

Options:
  -h, --help  Print this text
";

/// What `kcl query --help` says.
pub(crate) const QUERY: &str = "\
List variables, options and uses of names.

Usage: kcl query variables [options] [files] [paths]
       kcl query options [options] [files]
       kcl query uses [files] <symbol>

Without files, those of the current folder are read. Nothing is evaluated: values are shown as
they are written.

  variables  The values of variables, or those at paths such as app.image
  options    What the program reads with option()
  uses       Where a variable, a schema or an attribute (App.image) is named

Options:
      --merge            Take the blocks of 'name: Schema {...}' together
      --format <format>  text (default) or json
  -h, --help             Print this text
";

/// What `kcl set --help` says.
pub(crate) const SET: &str = "\
Change values in source files.

Usage: kcl set [options] <files> <path=value>...

Changes:
  path=value   Set a value; what is missing is created
  path:value   Merge a config or schema into what is there, or set a value
  path+=value  Append items to a list
  path-        Delete a value

A value is an expression: text stands in quotes. With several files, the one that sets the variable
is changed, else the last one. Comments and layout stay; the differences are printed.

Options:
  -O, --overrides <change>...  Make changes, and format the files as the reference does: dotted
                               keys are written out
      --import <path [as x]>   Add an import
      --check                  Change nothing, and exit with 1 if anything would change
  -q, --quiet                  Do not print differences
  -h, --help                   Print this text
";

/// What `kcl rename --help` says.
pub(crate) const RENAME: &str = "\
Rename a variable, schema or attribute everywhere.

Usage: kcl rename [options] <symbol> <new name> [files]

The symbol is a name of the main package (app) or an attribute of a schema (App.image). All files of
the program are changed, also those of packages that it imports. Without files, those of the
current folder are read. The differences are printed.

Options:
      --check  Change nothing, and exit with 1 if anything would change
  -q, --quiet  Do not print differences
  -h, --help   Print this text
";
