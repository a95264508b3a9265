//! What is known of imported packages, kept from one program to the next.

use crate::call::ParamTypes;
use crate::evaluator::{Evaluator, FileState, PackageState, SchemaDecl};
use crate::layout::{Layout, Links, SchemaId};
use crate::provenance::Contests;
use base_text::{FileId, Name};
use kcl_hir::{PackageId, Program};
use kcl_syntax::ast::{Stmt, StmtId};
use kcl_value::{SchemaInfo, Str};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many reads a library keeps: those of main packages gather there, too.
const MAX_READS: usize = 1 << 20;

/// The packages that evaluations of programs with the same imports share: their globals are
/// evaluated, names are resolved and layouts made once. Starts empty; the first program fills
/// it.
#[derive(Default)]
pub struct Library {
    known: Option<KnownPackages>,
}

/// What an evaluator knows beside the main package.
struct KnownPackages {
    n_main_files: usize,
    files: Vec<FileState>,
    packages: Vec<PackageState>,
    schemas: Vec<KnownSchema>,
    schema_ids: FxHashMap<(PackageId, Name), SchemaId>,
    strings: FxHashMap<Name, Str>,
    /// The reads that values of the packages may refer to.
    reads: Rc<Contests>,
}

struct KnownSchema {
    file: FileId,
    stmt: StmtId,
    package: PackageId,
    info: Rc<SchemaInfo>,
    has_run: bool,
    layout: Option<Rc<Layout>>,
    links: Option<Rc<Links>>,
    param_types: Rc<ParamTypes>,
}

impl Library {
    /// Gives away what is known.
    pub(crate) fn take(&mut self) -> Parts {
        Parts { known: self.known.take() }
    }

    /// Keeps what an evaluator that has finished knows of imported packages.
    pub(crate) fn fill(&mut self, evaluator: &mut Evaluator<'_>) {
        let is_small = evaluator.provenance.contests.len() <= MAX_READS;
        if is_small && evaluator.imports_are_pure {
            self.known = Some(take_known(evaluator));
        }
    }
}

/// What is taken over into an evaluator.
#[derive(Default)]
pub(crate) struct Parts {
    known: Option<KnownPackages>,
}

impl<'p> Evaluator<'p> {
    /// Takes over what is known; says whether anything was.
    pub(crate) fn adopt(&mut self, parts: Parts) -> bool {
        let Some(known) = parts.known else { return false };
        let n_main_files = known.n_main_files;
        let base = |files: &[FileState], at: usize| files.get(at).map(|file| file.origin_base);
        if base(&self.files, n_main_files) != base(&known.files, 0) {
            return false;
        }
        self.files.truncate(n_main_files);
        self.files.extend(known.files);
        self.packages.truncate(1);
        self.packages.extend(known.packages);
        self.schema_ids = known.schema_ids;
        self.strings = known.strings;
        self.provenance.contests = known.reads;
        let program: &'p Program = self.program;
        for schema in known.schemas {
            let module = &program.file(schema.file).module;
            let Stmt::Schema(decl) = &module[schema.stmt].kind else { continue };
            self.schemas.push(SchemaDecl {
                file: schema.file,
                stmt: schema.stmt,
                decl,
                package: schema.package,
                info: schema.info,
                has_run: schema.has_run,
                layout: schema.layout,
                links: schema.links,
                param_types: schema.param_types,
            });
        }
        true
    }

    /// Whether all that was done so far need not be done again: nothing was printed or asked
    /// for.
    pub(crate) fn is_pure(&self) -> bool {
        !self.used_system.get()
            && !self.records_instances
            && self.printed.is_empty()
            && self.warnings.is_empty()
            && self.stream.is_none()
    }
}

/// Takes what is known beside the main package out of an evaluator that has finished.
fn take_known(evaluator: &mut Evaluator<'_>) -> KnownPackages {
    let program = evaluator.program;
    let n_main_files = program.main_package().map_or(0, |package| package.files.len());
    let mut schema_ids = std::mem::take(&mut evaluator.schema_ids);
    let n_own = evaluator.schemas.iter().rev().take_while(|s| s.package == PackageId(0)).count();
    if n_own > 0 {
        schema_ids.retain(|(package, _), _| *package != PackageId(0));
    }
    let n_known = evaluator.schemas.len() - n_own;
    let schemas = evaluator.schemas[..n_known].iter().map(|schema| KnownSchema {
        file: schema.file,
        stmt: schema.stmt,
        package: schema.package,
        info: schema.info.clone(),
        has_run: schema.has_run,
        layout: schema.layout.clone(),
        links: schema.links.clone(),
        param_types: schema.param_types.clone(),
    });
    KnownPackages {
        n_main_files,
        schemas: schemas.collect(),
        // The places of main files are still needed.
        files: evaluator.files.drain(n_main_files..).collect(),
        packages: evaluator.packages.drain(1..).collect(),
        schema_ids,
        strings: std::mem::take(&mut evaluator.strings),
        reads: Rc::clone(&evaluator.provenance.contests),
    }
}
