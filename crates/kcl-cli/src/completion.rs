//! `kcl completion`: scripts by which shells complete commands and options.

use crate::catalog::{Entry, entries};
use crate::{Exit, terminal};
use std::fmt::Write as _;

/// What `kcl completion --help` says.
pub(crate) const HELP: &str = "\
Print a script that completes commands and options in a shell.

Usage: kcl completion <bash | zsh | fish | powershell>

To load it in every new shell, add this line to the start file of the shell:

    source <(kcl completion bash)                        # ~/.bashrc
    source <(kcl completion zsh)                         # ~/.zshrc, after compinit
    kcl completion fish | source                         # ~/.config/fish/config.fish
    kcl completion powershell | Out-String | iex         # $PROFILE

Options:
  -h, --help  Print this text
";

/// Runs `kcl completion` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let [shell] = words else {
        return terminal::usage("expected a shell: bash, zsh, fish or powershell");
    };
    match shell.as_str() {
        "-h" | "--help" => terminal::write_out(HELP),
        "bash" => terminal::write_out(&bash(&entries())),
        "zsh" => terminal::write_out(&zsh(&entries())),
        "fish" => terminal::write_out(&fish(&entries())),
        "powershell" | "pwsh" => terminal::write_out(&powershell(&entries())),
        other => terminal::usage(&format!(
            "invalid shell '{other}', expected bash, zsh, fish or powershell"
        )),
    }
}

/// The words that may follow a command: commands below it, and its options.
fn words(entry: &Entry) -> Vec<(String, String)> {
    let mut words: Vec<(String, String)> =
        entry.commands().into_iter().map(|(name, about)| (name.to_owned(), about)).collect();
    for option in entry.options() {
        words.extend(option.short.map(|it| (format!("-{it}"), option.about.clone())));
        words.push((format!("--{}", option.long), option.about.clone()));
    }
    words
}

/// The commands that have others below them, as a pattern of a `case`.
fn parents(entries: &[Entry]) -> String {
    let has_below = |entry: &&Entry| {
        !entry.words.is_empty()
            && entries.iter().any(|it| it.words.starts_with(&format!("{} ", entry.words)))
    };
    let parents: Vec<&str> = entries.iter().filter(has_below).map(|it| it.words).collect();
    parents.join("|")
}

fn bash(entries: &[Entry]) -> String {
    let mut cases = String::new();
    for entry in entries {
        let words: Vec<String> = words(entry).into_iter().map(|(word, _)| word).collect();
        let _ = writeln!(cases, "        '{}') words='{}' ;;", entry.words, words.join(" "));
    }
    format!(
        "\
# Completion of kcl for bash.
_kcl() {{
    local current=\"${{COMP_WORDS[COMP_CWORD]}}\" command='' words=''
    if ((COMP_CWORD > 1)); then command=\"${{COMP_WORDS[1]}}\"; fi
    case \"$command\" in
        {})
            if ((COMP_CWORD > 2)); then command=\"$command ${{COMP_WORDS[2]}}\"; fi ;;
    esac
    case \"$command\" in
{cases}    esac
    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))
    # Files, unless a command or an option is expected.
    if [[ -n $command && $current != -* ]]; then
        COMPREPLY+=($(compgen -f -- \"$current\"))
    fi
}}
complete -o filenames -F _kcl kcl
",
        parents(entries)
    )
}

fn zsh(entries: &[Entry]) -> String {
    let mut cases = String::new();
    for entry in entries {
        let _ = writeln!(cases, "        '{}')", entry.words);
        for (word, about) in words(entry) {
            let about = about.replace('\'', "'\\''");
            let _ = writeln!(cases, "            found+=('{word}:{about}')");
        }
        cases.push_str("            ;;\n");
    }
    format!(
        "\
#compdef kcl
# Completion of kcl for zsh.
_kcl() {{
    local command='' expanded
    local -a found
    (( CURRENT > 2 )) && command=\"${{words[2]}}\"
    case \"$command\" in
        {}) (( CURRENT > 3 )) && command=\"$command ${{words[3]}}\" ;;
    esac
    case \"$command\" in
{cases}    esac
    (( ${{#found}} )) && _describe -o 'kcl' found
    [[ -n $command && ${{words[CURRENT]}} != -* ]] && _files
}}
if [ \"$funcstack[1]\" = '_kcl' ]; then _kcl \"$@\"; else compdef _kcl kcl; fi
",
        parents(entries)
    )
}

fn fish(entries: &[Entry]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut text = String::from("# Completion of kcl for fish.\n");
    for entry in entries {
        let mut seen = entry.words.split_whitespace();
        let condition = match (seen.next(), seen.next()) {
            (None, _) => "__fish_use_subcommand".to_owned(),
            (Some(first), None) => format!("__fish_seen_subcommand_from {first}"),
            (Some(first), Some(second)) => format!(
                "__fish_seen_subcommand_from {first}; and __fish_seen_subcommand_from {second}"
            ),
        };
        let condition = quoted(&condition);
        for (name, about) in entry.commands() {
            let _ =
                writeln!(text, "complete -c kcl -n {condition} -a {name} -d {}", quoted(&about));
        }
        for option in entry.options() {
            let _ = write!(text, "complete -c kcl -n {condition}");
            if let Some(short) = option.short {
                let _ = write!(text, " -s {short}");
            }
            let value = if option.has_value { " -r" } else { "" };
            let _ = writeln!(text, " -l {}{value} -d {}", option.long, quoted(&option.about));
        }
    }
    text
}

fn powershell(entries: &[Entry]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let mut cases = String::new();
    for entry in entries {
        let words = words(entry);
        let _ = writeln!(cases, "        {} {{", quoted(entry.words));
        for (word, about) in words {
            let _ = writeln!(cases, "            @({}, {})", quoted(&word), quoted(&about));
        }
        cases.push_str("        }\n");
    }
    format!(
        "\
# Completion of kcl for PowerShell.
Register-ArgumentCompleter -Native -CommandName kcl -ScriptBlock {{
    param($current, $tree, $position)
    $typed = @($tree.CommandElements | Select-Object -Skip 1 | ForEach-Object {{ $_.ToString() }} |
        Where-Object {{ -not $_.StartsWith('-') -and $_ -ne $current }})
    $command = if ($typed.Count -gt 0) {{ $typed[0] }} else {{ '' }}
    if ($command -match '^({})$' -and $typed.Count -gt 1) {{ $command = \"$command $($typed[1])\" }}
    $found = switch ($command) {{
{cases}    }}
    # A list of pairs is flat here: words and what they do take turns.
    for ($at = 0; $at -lt $found.Count; $at += 2) {{
        if ($found[$at] -like \"$current*\") {{
            [System.Management.Automation.CompletionResult]::new(
                $found[$at], $found[$at], 'ParameterValue', $found[$at + 1])
        }}
    }}
}}
",
        parents(entries)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_know_commands_and_options() {
        let entries = entries();
        for (shell, script) in [
            ("bash", bash(&entries)),
            ("zsh", zsh(&entries)),
            ("fish", fish(&entries)),
            ("powershell", powershell(&entries)),
        ] {
            for word in ["registry", "rename", "disable-none", "min-coverage"] {
                assert!(script.contains(word), "{shell} lacks {word}");
            }
        }
    }

    #[test]
    fn descriptions_are_quoted() {
        let entry =
            Entry { words: "a", help: "T.\n\nUsage: kcl a\n\nOptions:\n  --x  It's $(a)\n" };
        assert!(zsh(&[entry]).contains("found+=('--x:It'\\''s $(a)')"));
        assert!(fish(&[entry]).contains("-l x -d 'It\\'s $(a)'"));
        assert!(powershell(&[entry]).contains("@('--x', 'It''s $(a)')"));
    }
}
