//! Imported packages that programs on one thread share, checked and evaluated.

use crate::options::RunOptions;
use kcl_hir::{LibraryKey, Program};

/// How many different sets of packages are kept.
const N_KEPT: usize = 16;

/// The imported packages of programs that ran before on this thread.
#[derive(Default)]
pub(crate) struct SharedPackages {
    /// The last used one is last.
    kept: Vec<Shared>,
}

/// One set of imported packages, and what is known of it.
pub(crate) struct Shared {
    key: LibraryKey,
    options: EvalKey,
    pub(crate) types: kcl_types::Library,
    pub(crate) values: kcl_eval::Library,
}

/// The options that change what packages evaluate to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EvalKey {
    arguments: Vec<(String, String)>,
    flags: [bool; 6],
}

impl EvalKey {
    fn new(options: &RunOptions) -> Self {
        Self { arguments: options.arguments.clone(), flags: Self::flags(options) }
    }

    fn flags(options: &RunOptions) -> [bool; 6] {
        [
            options.partial,
            options.complete,
            options.provenance,
            options.strict_range_check,
            options.debug,
            options.show_hidden,
        ]
    }

    fn fits(&self, options: &RunOptions) -> bool {
        self.arguments == options.arguments && self.flags == Self::flags(options)
    }
}

impl SharedPackages {
    /// Takes out what is known of the packages that a program imports; what is not known is
    /// empty.
    pub(crate) fn take(&mut self, program: &Program, options: &RunOptions) -> Shared {
        let found = self
            .kept
            .iter()
            .rposition(|shared| shared.options.fits(options) && shared.key.fits(program));
        match found {
            Some(at) => self.kept.remove(at),
            None => Shared {
                key: program.library_key(),
                options: EvalKey::new(options),
                types: kcl_types::Library::default(),
                values: kcl_eval::Library::default(),
            },
        }
    }

    /// Keeps what is known for the next program.
    pub(crate) fn keep(&mut self, shared: Shared) {
        if self.kept.len() == N_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(shared);
    }
}
