//! Imported packages that programs on one thread share, checked and evaluated.

use crate::options::RunOptions;
use kcl_eval::Options as EvalOptions;
use kcl_hir::{Assembly, AssemblyKey, Program};
use kcl_value::output::OutputOptions;

/// How many different sets of packages are kept.
const N_KEPT: usize = 16;

/// The imported packages of programs that ran before on this thread.
#[derive(Default)]
pub(crate) struct SharedPackages {
    /// The last used one is last.
    kept: Vec<Shared>,
    /// That of the program that runs.
    pub(crate) current: Shared,
}

/// One set of imported packages, and what is known of it.
#[derive(Default)]
pub(crate) struct Shared {
    /// `None` for a program that shares nothing.
    key: Option<(AssemblyKey, EvalKey)>,
    assembly: Option<Assembly>,
    /// The facts that putting it together relied on.
    pub(crate) facts: Vec<u32>,
    pub(crate) types: kcl_types::Library,
    pub(crate) values: kcl_eval::Library,
}

/// What changes what packages evaluate to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EvalKey {
    arguments: Vec<(String, String)>,
    eval: EvalOptions,
    output: OutputOptions,
}

impl EvalKey {
    fn new(options: &RunOptions) -> Self {
        let eval = EvalOptions { tracking: options.tracking(), ..options.eval };
        Self { arguments: options.arguments.clone(), eval, output: options.output }
    }
}

impl SharedPackages {
    /// Begins a program with what is known of the packages it imports, and gives them away.
    pub(crate) fn begin(&mut self, key: AssemblyKey, options: &RunOptions) -> Option<Assembly> {
        let key = (key, EvalKey::new(options));
        let found = self.kept.iter().rposition(|shared| shared.key.as_ref() == Some(&key));
        self.current = match found {
            Some(at) => self.kept.remove(at),
            None => Shared { key: Some(key), ..Shared::default() },
        };
        self.current.assembly.take()
    }

    /// Begins a program that shares nothing.
    pub(crate) fn begin_alone(&mut self) {
        self.current = Shared::default();
    }

    /// Notes what is left of the packages that were given away.
    pub(crate) fn lend(&mut self, rest: Option<Assembly>) {
        if rest.is_none() {
            // The program was put together anew: what is known may be of other numbers.
            self.current.types = kcl_types::Library::default();
            self.current.values = kcl_eval::Library::default();
        }
        self.current.assembly = rest;
    }

    /// Keeps what is known for the next program, and the packages of the one that has ended.
    pub(crate) fn finish(&mut self, program: Program) {
        let mut shared = std::mem::take(&mut self.current);
        if shared.key.is_none() || program.packages.is_empty() {
            return;
        }
        match &mut shared.assembly {
            Some(assembly) => assembly.take_back(program),
            None => shared.assembly = Some(Assembly::new(program)),
        }
        if self.kept.len() == N_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(shared);
    }
}
