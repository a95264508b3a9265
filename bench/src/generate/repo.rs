//! Repositories: projects of three stacks each, on one set of models.

use super::model::write_models;
use super::{MOD_FILE, Numbers, write};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const STACKS: [&str; 3] = ["dev", "pre", "prod"];

/// A repository to be generated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repo {
    /// How many projects it has, each with three stacks.
    pub(crate) n_projects: usize,
    /// How large they are.
    pub(crate) shape: Shape,
}

/// How much stands in a project.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    variables: u64,
    helpers: u64,
    documents: u64,
    lines: u64,
}

impl Shape {
    /// A project of about 110 lines; a stack of about 270 lines of YAML.
    pub(crate) const SMALL: Self = Self { variables: 4, helpers: 1, documents: 1, lines: 2 };
    /// A project of about 220 lines; a stack of about 590 lines of YAML.
    pub(crate) const LARGE: Self = Self { variables: 8, helpers: 5, documents: 4, lines: 8 };
}

/// What was generated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    /// How many stacks.
    pub(crate) n_stacks: usize,
    /// How many lines of KCL.
    pub(crate) n_lines: usize,
}

impl Repo {
    /// Writes the repository into a folder, with a list of its stacks in `stacks.list`.
    ///
    /// # Errors
    ///
    /// If files can't be written.
    pub(crate) fn write(&self, root: &Path) -> anyhow::Result<Written> {
        write(&root.join("kcl.mod"), MOD_FILE)?;
        write_models(root)?;
        let mut written = Written::default();
        let mut list = String::new();
        for i in 0..self.n_projects {
            let project = root.join(format!("projects/p{i:05}"));
            let base_file = project.join("base/base.k");
            let base = base(i, self.shape);
            written.n_lines += base.lines().count();
            write(&base_file, &base)?;
            write(&project.join("project.yaml"), &format!("name: p{i:05}\n"))?;
            for (at, stack) in STACKS.iter().enumerate() {
                let folder = project.join(stack);
                let main = main(i, at);
                written.n_lines += main.lines().count();
                written.n_stacks += 1;
                let main_file = folder.join("main.k");
                write(&main_file, &main)?;
                write(&folder.join("stack.yaml"), &format!("name: {stack}\n"))?;
                write(&folder.join("kcl.yaml"), SETTINGS)?;
                let show = |path: &PathBuf| path.display().to_string();
                let (folder, base, main) = (show(&folder), show(&base_file), show(&main_file));
                let _ = writeln!(list, "{folder}\t{base}\t{main}");
            }
        }
        write(&root.join("stacks.list"), &list)?;
        Ok(written)
    }
}

const SETTINGS: &str = "kcl_cli_configs:\n  file:\n    - ../base/base.k\n    - main.k\n";

/// Writes one project of which the last stack is run.
pub(super) fn write_app(root: &Path) -> anyhow::Result<()> {
    write(&root.join("kcl.mod"), MOD_FILE)?;
    write_models(root)?;
    write(&root.join("base/base.k"), &base(7, Shape::SMALL))?;
    write(&root.join("prod/main.k"), &main(7, 2))
}

/// What all stacks of a project share.
fn base(i: usize, shape: Shape) -> String {
    let mut numbers = Numbers::new(i as u64 + 1);
    let mut more = |n: u64| n + numbers.below(n.div_ceil(2) + 1);
    let team = i % 23;
    let mut text = format!(
        "import models.service as sv

service: sv.Service {{
    title = \"p{i:05}\"
    space = \"team-{team}\"
    marks = {{owner = \"team-{team}\", group = \"g{}\"}}
    notes = {{\"corp.test/contact\" = \"team-{team}@corp.test\"}}
    main = sv.Unit {{
        title = \"main\"
        image = \"images.corp.test/team-{team}/p{i:05}\"
        endpoints = [
            {{label = \"web\", port = 8080}}
            {{label = \"stats\", port = 9100}}
        ]
        variables = {{
",
        i % 7
    );
    for v in 0..more(shape.variables) {
        let _ = writeln!(text, "            SETTING_{v} = \"value {v} of {i}\"");
    }
    let _ = write!(
        text,
        "        }}
        secrets = {{PASSWORD = \"store-{i}:password\"}}
        alive = {{port = 8080, after = 20}}
        ready = {{path = \"/ready\", port = 8080}}
    }}
    helpers = [
"
    );
    for h in 0..more(shape.helpers) {
        let _ = write!(
            text,
            "        sv.Unit {{
            title = \"helper-{h}\"
            image = \"images.corp.test/helper-{h}\"
            version = \"2.{h}\"
            variables = {{
                LEVEL = \"info\"
                MODE = \"m{h}\"
            }}
        }}
"
        );
    }
    text.push_str("    ]\n    documents = [\n");
    for d in 0..more(shape.documents) {
        let _ = writeln!(
            text,
            "        sv.Document {{\n            title = \"doc-{d}\"\n            content = {{"
        );
        for l in 0..more(shape.lines) {
            let _ = writeln!(text, "                \"line.{l}\" = \"text {l} of {d}\"");
        }
        text.push_str("            }\n        }\n");
    }
    text.push_str("    ]\n}\n");
    text
}

/// What one stack adds.
fn main(i: usize, at: usize) -> String {
    let stack = STACKS[at];
    let (copies, cpu, memory) = (at * 3 + 1, 200 * (at + 1), 128 << at);
    let secure = if at == 2 { "True" } else { "False" };
    format!(
        "import models.service as sv
import models.render

service: sv.Service {{
    copies = {copies}
    marks: {{stage = \"{stack}\"}}
    main: {{
        version = \"1.{}.{at}\"
        variables: {{STAGE = \"{stack}\"}}
        compute = {{cpu = \"{cpu}m\", memory = \"{memory}Mi\"}}
    }}
    domain = {{
        host = \"p{i:05}.{stack}.corp.test\"
        secure = {secure}
    }}
}}

objects = render.render(service)
",
        i % 30
    )
}
