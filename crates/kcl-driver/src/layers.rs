//! Partial programs that are evaluated once each and merged in any order.

use crate::compile::load_job;
use crate::error::RunError;
use crate::evaluate::{Before, RunOutput, Shown, at_end, check_and_evaluate, request, show};
use crate::options::RunOptions;
use crate::prepare::{Job, prepare};
use crate::session::Session;
use crate::stack::with_large_stack;
use base_diag::Diagnostic;
use base_system::System;
use kcl_eval::{Options as EvalOptions, Tracking};
use kcl_hir::{Input, Program};
use kcl_value::Value;

/// Evaluates layers once and calls `work`, which can merge them as often as it likes.
///
/// A layer is a program whose schema literals keep only what is written: names and types are
/// checked, but there are no defaults, and neither required attributes nor `check` count.
/// Entries meet by their operators: `:` merges (unequal values are a conflict), `=` replaces,
/// `+=` appends, `= Undefined` removes.
///
/// Values live on one thread with a large stack, so `work` runs there, too.
///
/// ```
/// use base_system::MemorySystem;
/// use kcl_driver::{RunOptions, with_layers};
///
/// let system = MemorySystem::new()
///     .with_file("/m/kcl.mod", "")
///     .with_file("/m/app/app.k", "schema App:\n    image: str\n    replicas: int = 1\n")
///     .with_file("/m/base.k", "import app\nshop: app.App {image = \"shop:1.0\"}\n")
///     .with_file("/m/prod.k", "import app\nshop: app.App {replicas = 6}\n");
/// let layers = [RunOptions::files(["/m/base.k"]), RunOptions::files(["/m/prod.k"])];
/// with_layers(&system, &layers, |layers| {
///     let merge = |order: &[usize], complete| {
///         let mut options = RunOptions::default();
///         options.eval.complete = complete;
///         layers.merge(order, &options).expect("the layers go together").result
///     };
///     assert_eq!(merge(&[0], false), "shop:\n  image: shop:1.0");
///     assert_eq!(merge(&[1, 0], false), "shop:\n  image: shop:1.0\n  replicas: 6");
///     assert_eq!(merge(&[0], true), "shop:\n  image: shop:1.0\n  replicas: 1");
/// })
/// .expect("each layer is valid");
/// ```
///
/// # Errors
///
/// If a layer can't be evaluated.
pub fn with_layers<T: Send>(
    system: &(dyn System + Sync),
    layers: &[RunOptions],
    work: impl Fn(&Layers<'_>) -> T + Sync,
) -> Result<T, Box<RunError>> {
    with_large_stack(|| Layers::new(system, layers).map(|layers| work(&layers)))
}

/// Layers that are evaluated and can be merged.
pub struct Layers<'s> {
    system: &'s dyn System,
    session: Session,
    /// The programs of the layers.
    programs: Vec<Program>,
    values: Vec<Value>,
    provenance: kcl_eval::Provenance,
    printed: String,
    warnings: Vec<Diagnostic>,
    /// All files of all layers: it knows the schemas.
    whole: Program,
}

impl<'s> Layers<'s> {
    fn new(system: &'s dyn System, layers: &[RunOptions]) -> Result<Self, Box<RunError>> {
        let mut made = Self {
            system,
            session: Session::new(),
            programs: Vec::with_capacity(layers.len()),
            values: Vec::with_capacity(layers.len()),
            provenance: kcl_eval::Provenance::default(),
            printed: String::new(),
            warnings: Vec::new(),
            whole: Program::default(),
        };
        let mut whole: Option<Job> = None;
        for layer in layers {
            // Contests inside a layer are cheap to note and may be asked for later.
            let eval = EvalOptions {
                partial: true,
                complete: false,
                tracking: Tracking::Contests,
                ..layer.eval
            };
            let options = RunOptions { eval, ..layer.clone() };
            let job = prepare(system, &options)?;
            made.add(&job)?;
            add_inputs(&mut whole, job);
        }
        if let Some(job) = whole {
            made.whole = load_job(&made.session, system, &job)?.program;
        }
        Ok(made)
    }

    fn add(&mut self, job: &Job) -> Result<(), Box<RunError>> {
        let loaded = load_job(&self.session, self.system, job)?;
        let before = Before::Layers(&self.session, std::mem::take(&mut self.provenance));
        let (program, evaluated) = check_and_evaluate(self.system, job, loaded, before)?;
        self.provenance = evaluated.provenance;
        self.printed.push_str(&evaluated.printed);
        self.warnings.extend(job.warnings.iter().cloned());
        self.values.push(evaluated.value);
        self.programs.push(program);
        Ok(())
    }

    /// Merges layers in the given order (places in the list of layers) and writes the result as
    /// `options` say; their inputs are not read. With [`EvalOptions::complete`], defaults, required
    /// attributes and checks come after the merge.
    ///
    /// Keys stand in the order of the layers as they were given, so layers that set different
    /// leaves give the same text in any order. An order may name some of the layers only.
    ///
    /// # Errors
    ///
    /// If entries are in conflict, or the completed result misses something or fails a check.
    pub fn merge(&self, order: &[usize], options: &RunOptions) -> Result<RunOutput, Box<RunError>> {
        let bare = RunOptions { ignore_default_settings: true, ..options.clone() };
        let job = prepare(self.system, &bare)?;
        let mut request = request(&job);
        request.options.partial = true;
        let evaluated = kcl_eval::combine(
            &self.whole,
            self.system,
            &request,
            self.provenance.clone(),
            &self.values,
            order,
        );
        let evaluated =
            evaluated.map_err(|error| RunError::new(error.diagnostics, self.whole.clone()))?;
        let mut programs: Vec<&Program> = self.programs.iter().collect();
        programs.push(&self.whole);
        let Shown { result, documents, provenance } =
            show(&evaluated, &job, &programs).map_err(|fault| {
                RunError::new(vec![at_end(evaluated.end, &fault)], self.whole.clone())
            })?;
        let mut warnings = self.warnings.clone();
        warnings.extend(evaluated.warnings);
        let mut printed = self.printed.clone();
        printed.push_str(&evaluated.printed);
        let (output, usage, program) = (job.output, evaluated.usage, self.whole.clone());
        Ok(RunOutput {
            printed,
            result,
            documents,
            provenance,
            output,
            warnings,
            usage,
            coverage: Vec::new(),
            program,
        })
    }
}

/// Adds the files and packages of one layer to the program that has those of all.
fn add_inputs(whole: &mut Option<Job>, mut job: Job) {
    for input in &mut job.options.inputs {
        if input.text.is_none() && !input.path.starts_with("${") {
            input.path = job.base.join(&input.path).display().to_string();
        }
    }
    job.options.overrides.clear();
    let Some(whole) = whole else {
        *whole = Some(job);
        return;
    };
    let is_new = |input: &Input| {
        let same = |known: &Input| known.path == input.path && known.text == input.text;
        !whole.options.inputs.iter().any(same)
    };
    let new: Vec<Input> = job.options.inputs.into_iter().filter(is_new).collect();
    whole.options.inputs.extend(new);
    // Those that are known already win.
    job.packages.extend(std::mem::take(&mut whole.packages));
    whole.packages = job.packages;
    whole.io_rules.extend(job.io_rules);
    for vendor in job.vendors {
        if !whole.vendors.contains(&vendor) {
            whole.vendors.push(vendor);
        }
    }
}
