//! `kusion man`: writes the manual pages, for packagers.

use crate::commands::help::topics;
use crate::failure::Failure;
use std::fs;
use std::path::PathBuf;

/// Arguments of `kusion man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for the pages, `kusion.1`, `kusion-apply.1`, `kusion-plans.7` and so on
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes one manual page for each command and each help topic into a folder.
pub(crate) fn run(args: &Args, command: clap::Command) -> Result<(), Failure> {
    let folder = &args.folder;
    fs::create_dir_all(folder).map_err(Failure::file("create", folder))?;
    clap_mangen::generate_to(command, folder).map_err(Failure::file("write", folder))?;
    for name in topics::NAMES {
        let path = folder.join(format!("kusion-{name}.7"));
        let text = topic(name, topics::find(name).unwrap_or_default());
        fs::write(&path, text).map_err(Failure::file("write", &path))?;
    }
    Ok(())
}

/// Returns the manual page of a topic: its text as it is.
fn topic(name: &str, text: &str) -> String {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let plain = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        // A line that starts with one of these would be a request.
        let is_request = line.starts_with(['.', '\'']);
        if is_request { format!("\\&{line}") } else { line }
    };
    let version = env!("CARGO_PKG_VERSION");
    let lines: Vec<String> = rest.trim().lines().map(plain).collect();
    format!(
        ".TH kusion\\-{page} 7 \"\" \"kusion {version}\"\n.SH NAME\nkusion\\-{page} \\- {title}\n\
         .SH DESCRIPTION\n.nf\n{body}\n.fi\n",
        page = plain(name),
        title = plain(title),
        body = lines.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_topic_are_not_requests() {
        let page = topic("a-b", "A title\n\n.x \\n\n'y\n--z\n");
        let body = page.split_once(".nf\n").expect("a body").1;
        assert_eq!(body, "\\&.x \\en\n\\&'y\n\\-\\-z\n.fi\n");
        assert!(page.contains(".SH NAME\nkusion\\-a\\-b \\- A title\n"));
    }
}
