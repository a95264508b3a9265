//! The rules, and what they say about data.

use crate::files::DataFile;
use crate::report::{Failure, Place, Report};
use crate::trace::Traced;
use base_diag::Findings;
use base_system::System;
use base_text::{LineCol, LineIndex};
use kcl_data::{DataError, Layout, Node, Source, name_text};
use kcl_driver::{
    Confinement, Format, Input, Pool, RunError, RunOptions, Runner, Session, SharedProvider,
    Sharing, compile,
};
use kcl_hir::program::GlobalKind;
use std::path::{Path, PathBuf};

/// What data is judged by.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The files, folders or patterns of the package that has the schema.
    pub inputs: Vec<Input>,
    /// The schema that each document must be an instance of.
    pub schema: SchemaName,
    /// The variable that holds the document, which the files of the schema may read.
    pub attribute: String,
    /// External packages: names with folders.
    pub packages: Vec<(String, PathBuf)>,
    /// Downloads dependencies that are not on disk. Without it, nothing is downloaded.
    pub provider: Option<SharedProvider>,
    /// Top-level arguments: names with values in JSON.
    pub arguments: Vec<(String, String)>,
    /// What evaluation may use.
    pub confinement: Confinement,
}

/// Which schema counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SchemaName {
    /// The first one of the files; if they have none, statements judge the data.
    #[default]
    First,
    /// This one.
    Named(String),
}

impl Rules {
    /// Rules of files: their first schema counts, and the data is called `value`.
    pub fn files<P: Into<String>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self {
            inputs: paths.into_iter().map(Input::path).collect(),
            schema: SchemaName::First,
            attribute: "value".to_owned(),
            packages: Vec::new(),
            provider: None,
            arguments: Vec::new(),
            confinement: Confinement::default(),
        }
    }

    /// What each document is run with. The program works in the folder of the schema, so that its
    /// imports and dependencies are found wherever the data is.
    fn options(&self, system: &dyn System) -> RunOptions {
        let here = system.current_dir().unwrap_or_default();
        let is_named = |input: &Input| input.text.is_none() && !input.path.starts_with("${");
        let first = self.inputs.iter().find(|input| is_named(input)).map(|it| here.join(&it.path));
        let folder = first.and_then(|path| {
            if system.is_dir(&path) { Some(path) } else { path.parent().map(Path::to_path_buf) }
        });
        let place = |input: &Input| {
            let path = if is_named(input) {
                here.join(&input.path).display().to_string()
            } else {
                input.path.clone()
            };
            Input { path, ..input.clone() }
        };
        let packages = self.packages.iter().map(|(name, path)| (name.clone(), here.join(path)));
        let mut options = RunOptions {
            inputs: self.inputs.iter().map(place).collect(),
            work_dir: folder,
            packages: packages.collect(),
            provider: self.provider.clone(),
            arguments: self.arguments.clone(),
            ignore_default_settings: true,
            format: Some(Format::Data),
            use_cache: true,
            ..RunOptions::default()
        };
        self.confinement.apply(&mut options);
        options.eval.all_checks = true;
        options
    }

    /// The name of the schema, if there is one.
    fn schema(
        &self,
        system: &(dyn System + Sync),
        options: &RunOptions,
    ) -> Result<Option<String>, Box<RunError>> {
        // Whatever is wrong with the files, they are loaded here, and the check of the first
        // document tells it.
        let compiled = compile(system, options)?;
        if let SchemaName::Named(name) = &self.schema {
            return Ok(Some(name.clone()));
        }
        let globals = compiled.program.main_package().map(|package| &package.globals);
        let mut schemas =
            globals.into_iter().flatten().filter(|(_, it)| it.kind == GlobalKind::Schema);
        Ok(schemas.next().and_then(|(name, _)| name_text(name.as_str())))
    }
}

/// Judges all documents of data files, on so many threads (0: one for each core).
///
/// # Errors
///
/// If the files of the schema can't be loaded. Whatever is wrong with data is part of the reports,
/// which come in the order of the files.
pub fn vet(
    system: &(dyn System + Sync),
    rules: &Rules,
    data: &[DataFile],
    threads: usize,
) -> Result<Vec<Report>, Box<RunError>> {
    let options = rules.options(system);
    let schema = rules.schema(system, &options)?;
    let session = Session::cached(system);
    let pool = Pool { threads, chunk: 1 };
    let begin = || Runner::new(&session, system, Sharing::Evaluated);
    Ok(pool.map(data.len(), begin, |runner, at| {
        let job = Job { rules, options: &options, schema: schema.as_deref(), data: &data[at] };
        job.report(runner)
    }))
}

/// One data file under judgement.
struct Job<'r> {
    rules: &'r Rules,
    options: &'r RunOptions,
    schema: Option<&'r str>,
    data: &'r DataFile,
}

impl Job<'_> {
    fn report(&self, runner: &mut Runner<'_>) -> Report {
        let mut report = Report { name: self.data.name.clone(), ..Report::default() };
        match kcl_data::read(&self.data.text, self.data.format) {
            Ok(documents) if documents.is_empty() => {
                let (format, at) = (self.data.format, LineCol { line: 1, col: 1 });
                let message = "there is no document".to_owned();
                report.failures.push(self.unreadable(&DataError { format, at, message }));
            }
            Ok(documents) => {
                report.documents = documents.len();
                for (at, document) in documents.iter().enumerate() {
                    report.failures.extend(self.document(runner, document, at + 1));
                }
            }
            Err(error) => report.failures.push(self.unreadable(&error)),
        }
        report
    }

    fn unreadable(&self, error: &DataError) -> Failure {
        let format = self.data.format;
        let message = format!("Failed to Load {format}: {}", error.message);
        let data = Place {
            file: self.data.name.clone(),
            line: error.at.line,
            col: error.at.col,
            message: error.message.clone(),
        };
        Failure {
            code: None,
            kind: None,
            message,
            document: 1,
            data: Some(data),
            rule: None,
            is_of_evaluation: false,
            findings: Findings::default(),
        }
    }

    fn document(&self, runner: &mut Runner<'_>, document: &Node, number: usize) -> Vec<Failure> {
        let mut source = Source::new(Layout::Lines);
        source.push_at(&self.rules.attribute, document.span);
        source.push(" = ");
        let written = match document.double_key() {
            Some((key, span)) => Err((span, format!("the key `{key}` is there twice"))),
            None => source.value(document, self.schema, 0),
        };
        if let Err((span, message)) = written {
            let text = &self.data.text;
            let at = LineIndex::new(text).line_col(text, span.start);
            return vec![self.unreadable(&DataError { format: self.data.format, at, message })];
        }
        source.push("\n");
        let (text, anchors) = source.finish();
        let mut options = self.options.clone();
        options.inputs.insert(0, Input::text(&self.data.name, text));
        let traced =
            Traced { name: &self.data.name, text: &self.data.text, document: number, anchors };
        match runner.run(&options, |_| ()) {
            Ok(()) => Vec::new(),
            Err(error) => {
                let RunError { diagnostics, program, .. } = *error;
                traced.failures(diagnostics, &program)
            }
        }
    }
}
