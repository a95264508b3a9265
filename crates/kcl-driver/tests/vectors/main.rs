//! The provenance of every vector that the reference accepts: each leaf of the output has one
//! place, inside an input file, and asking for it changes nothing.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

mod scratch;

use kcl_driver::{
    EvalOptions, Format, Input, LeafPlace, Origin, PathStep, Place, RunOptions, RunOutput, Step,
    Tracking, parse_argument, run,
};
use scratch::Scratch;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;
use testkit::{Case, Corpus, Suite};

fn main() -> ExitCode {
    let mut suite = Suite::default();
    suite.add_with("each_leaf_of_the_output_has_one_place", Corpus::locate(), |corpus| {
        each_leaf_of_the_output_has_one_place(&corpus).expect("the vectors are readable");
    });
    suite.run()
}

fn each_leaf_of_the_output_has_one_place(corpus: &Corpus) -> anyhow::Result<()> {
    // Some programs write files below the working folder.
    let scratch = std::env::temp_dir().join(format!("kcl-corpus-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let system = Scratch(scratch.canonicalize()?);
    let mut problems = Vec::new();
    let (mut n_cases, mut n_leaves) = (0, 0);
    for case in corpus.cases("run")? {
        if !case.dir.join("expect.yaml").exists() {
            continue;
        }
        let Some(mut options) = options(&case) else { continue };
        // What the reference accepts and we do not is the score's business.
        let Ok(plain) = run(&system, &options) else { continue };
        options.provenance = true;
        options.eval.tracking = Tracking::Givers;
        let Ok(known) = run(&system, &options) else {
            problems.push(format!("{}: fails with provenance", case.name));
            continue;
        };
        n_cases += 1;
        if plain.result != known.result || plain.printed != known.printed {
            problems.push(format!("{}: other output with provenance", case.name));
        }
        options.format = Some(Format::Json);
        for tracking in [Tracking::Contests, Tracking::Givers] {
            let options =
                RunOptions { eval: EvalOptions { tracking, ..options.eval }, ..options.clone() };
            let Ok(json) = run(&system, &options) else { continue };
            n_leaves += json.provenance.as_ref().map_or(0, |found| found.leaves.len());
            let problem = check(&json, &options);
            // The data of several streams are joined; the text has the last one.
            let is_joined = json.warnings.iter().any(|it| it.code == "W0002");
            let problem =
                problem.or_else(|| check_data(&system, &json, &options).filter(|_| !is_joined));
            problems.extend(problem.map(|it| format!("{}: {it}", case.name)));
        }
    }
    std::fs::remove_dir_all(&scratch)?;
    assert_eq!(problems, Vec::<String>::new(), "of {n_cases} cases, {n_leaves} leaves");
    assert!(n_cases > 1300, "only {n_cases} cases were run");
    Ok(())
}

/// What is asked of the command line, as options.
fn options(case: &Case) -> Option<RunOptions> {
    let work_dir = case.dir.join(case.text("cwd").unwrap_or(""));
    let mut options = RunOptions { work_dir: Some(work_dir), ..RunOptions::default() };
    let argv = case.texts("argv");
    let mut words = argv.into_iter();
    while let Some(word) = words.next() {
        match word {
            "-D" => options.arguments.push(parse_argument(words.next()?).ok()?),
            "-O" => options.overrides.push(words.next()?.to_owned()),
            "-S" => options.selectors.push(words.next()?.to_owned()),
            "-Y" => options.settings.push(words.next()?.into()),
            "-E" => {
                let (name, folder) = words.next()?.split_once('=')?;
                options.packages.push((name.to_owned(), PathBuf::from(folder)));
            }
            "-n" => options.output.disable_none = true,
            "-d" => options.eval.debug = true,
            "-r" => options.eval.strict_range_check = true,
            "-k" | "--sort_keys" => options.output.sort_keys = true,
            "-H" | "--show_hidden" => options.output.show_hidden = true,
            "--include_schema_type_path" => options.output.include_schema_type_path = true,
            _ if word.starts_with('-') => return None,
            _ => options.inputs.push(Input::path(word)),
        }
    }
    Some(options)
}

/// The first thing that is wrong with the leaves of an output in JSON.
fn check(output: &RunOutput, options: &RunOptions) -> Option<String> {
    let Some(provenance) = &output.provenance else { return Some("no provenance".to_owned()) };
    let mut found: Vec<String> = provenance.leaves.iter().map(|leaf| path(&leaf.path)).collect();
    found.sort();
    let mut wanted = wanted_paths(output, options, &found);
    wanted.sort();
    if wanted != found {
        return Some(format!("leaves {found:?}, output {wanted:?}"));
    }
    for leaf in &provenance.leaves {
        let is_type = leaf.path.last() == Some(&Step::Key("_type".to_owned()));
        // Nothing at all comes from nowhere.
        if leaf.origin == Origin::Builtin && !is_type && !leaf.path.is_empty() {
            return Some(format!("{} has no place", path(&leaf.path)));
        }
        for origin in leaf.beaten.iter().chain([&leaf.origin]) {
            if let Some(place) = origin.place()
                && !is_inside(output, place)
            {
                return Some(format!("{} is at {place:?}", path(&leaf.path)));
            }
        }
    }
    None
}

/// The first difference between an output in JSON and the same output as data.
fn check_data(system: &Scratch, json: &RunOutput, options: &RunOptions) -> Option<String> {
    let options = RunOptions { format: Some(Format::Data), ..options.clone() };
    let documents = match run(system, &options) {
        Ok(output) => output.documents?,
        Err(error) => return Some(format!("fails with data: {error}")),
    };
    let read: Vec<Value> = serde_json::Deserializer::from_str(&json.result)
        .into_iter::<Value>()
        .filter_map(Result::ok)
        .collect();
    let is_same = documents.values.len() == read.len()
        && documents.values.iter().zip(&read).all(|(data, read)| testkit::is_alike(data, read));
    if !is_same {
        return Some(format!("data {:?}, read {read:?}", documents.values));
    }
    if options.eval.tracking != Tracking::Givers || !options.selectors.is_empty() {
        return None;
    }
    let leaves = json.provenance.iter().flat_map(|it| &it.leaves);
    leaves.into_iter().find_map(|leaf| {
        let steps = leaf.path.iter().map(|step| match step {
            Step::Key(key) => PathStep::Key(key),
            Step::Index(at) => PathStep::Index(*at),
        });
        let found = documents.places.find(steps).map(|place| match place {
            LeafPlace::Text { file, at } => format!("{file}:{}:{}", at.line, at.col),
            LeafPlace::Override(spec) => spec.to_owned(),
        });
        let wanted = match &leaf.origin {
            Origin::Override { spec } => Some(spec.to_string()),
            origin => {
                let place = origin.place();
                place.map(|at| format!("{}:{}:{}", at.file, at.line, at.column))
            }
        };
        let is_same = found == wanted;
        (!is_same).then(|| format!("{} is from {found:?}, not {wanted:?}", path(&leaf.path)))
    })
}

fn path(steps: &[Step]) -> String {
    let show = |step: &Step| match step {
        Step::Key(key) => format!("/{key}"),
        Step::Index(at) => format!("/#{at}"),
    };
    steps.iter().map(show).collect()
}

/// The paths of the leaves in the output.
fn wanted_paths(output: &RunOutput, options: &RunOptions, found: &[String]) -> Vec<String> {
    let documents: Vec<Value> = serde_json::Deserializer::from_str(&output.result)
        .into_iter::<Value>()
        .filter_map(Result::ok)
        .collect();
    // A list of configs, and what `yaml_stream` writes, are documents.
    let is_stream = found.iter().any(|path| path.starts_with("/#"));
    let mut paths = Vec::new();
    match (options.selectors.as_slice(), documents.as_slice()) {
        ([selector], [document]) => add_paths(document, &prefix(selector), &mut paths),
        ([selector], _) => {
            add_paths(&Value::Array(documents), &prefix(selector), &mut paths);
        }
        ([], [document]) if !is_stream || document.is_array() => {
            add_paths(document, "", &mut paths);
        }
        ([], []) => {}
        ([], _) => add_paths(&Value::Array(documents), "", &mut paths),
        (selectors, [Value::Array(items)]) => {
            for (selector, item) in selectors.iter().zip(items) {
                add_paths(item, &prefix(selector), &mut paths);
            }
        }
        (selectors, _) => {
            for (selector, document) in selectors.iter().zip(&documents) {
                add_paths(document, &prefix(selector), &mut paths);
            }
        }
    }
    paths
}

fn prefix(selector: &str) -> String {
    let step = |part: &str| match part.parse::<usize>() {
        Ok(at) => format!("/#{at}"),
        Err(_) => format!("/{part}"),
    };
    selector.split('.').map(step).collect()
}

fn add_paths(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                add_paths(value, &format!("{path}/{key}"), out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                add_paths(value, &format!("{path}/#{at}"), out);
            }
        }
        _ => out.push(path.to_owned()),
    }
}

/// Whether a place lies inside a file of the program.
fn is_inside(output: &RunOutput, place: &Place) -> bool {
    let Some(file) = output.program.files.iter().find(|file| file.path == *place.file) else {
        return false;
    };
    let has_end = |line: u32, column: u32| {
        let text = file.text.split('\n').nth(line as usize - 1);
        text.is_some_and(|text| (1..=text.chars().count() as u32 + 2).contains(&column))
    };
    has_end(place.line, place.column)
        && has_end(place.end_line, place.end_column)
        && (place.line, place.column) < (place.end_line, place.end_column)
}
