//! Where the files of a stack come from.
//!
//! Two repositories can have projects and stacks of the same names. So a state records the source
//! of its stack: the `id` of the project, or the Git repository and the folder in it. Only files of
//! the repository are read; git is not run.

use crate::find::Stack;
use crate::git::Repository;
use base_system::System;
use kusion_model::StackSource;
use std::path::Path;

/// Returns the sources of a stack, the most specific first; empty if nothing tells where it comes
/// from.
pub fn sources(system: &dyn System, stack: &Stack) -> Vec<StackSource> {
    let id = stack.project.file.id.clone();
    let mut sources: Vec<StackSource> =
        id.map(|id| StackSource::Project { id }).into_iter().collect();
    sources.extend(git_source(system, &stack.folder));
    sources
}

fn git_source(system: &dyn System, folder: &Path) -> Option<StackSource> {
    let repository = Repository::find(system, folder)?;
    let remote = remote_of(&repository.common_text("config")?).and_then(address)?;
    let folder = system.canonicalize(folder).ok()?;
    let inside = folder.strip_prefix(&repository.root).ok()?;
    let parts: Vec<&str> = inside.iter().filter_map(|it| it.to_str()).collect();
    Some(StackSource::Git { remote, folder: parts.join("/") })
}

/// Returns the address of the remote `origin`, else that of the only remote.
fn remote_of(config: &str) -> Option<&str> {
    let mut remotes: Vec<(&str, &str)> = Vec::new();
    let mut section = None;
    for line in config.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            let name = head.strip_prefix("remote \"").and_then(|it| it.split_once('"'));
            section = name.map(|(name, _)| name);
        } else if let (Some(name), Some((key, value))) = (section, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("url")
            && !remotes.iter().any(|(known, _)| *known == name)
        {
            remotes.push((name, value.trim().trim_matches('"')));
        }
    }
    let origin = remotes.iter().find(|(name, _)| *name == "origin");
    let only = || remotes.first().filter(|_| remotes.len() == 1);
    origin.or_else(only).map(|(_, url)| *url)
}

/// Returns host and path of an address; `None` for one on this machine.
fn address(url: &str) -> Option<String> {
    let (place, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // `git@host:path`
        None => url.split_once(':').filter(|(host, _)| !host.contains('/') && host.len() > 1)?,
    };
    let host = place.rsplit('@').next()?.split(':').next()?.to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_plain = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
    (is_plain(&host) && is_plain(path)).then(|| format!("{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use base_system::MemorySystem;

    fn sources_of(project: &str, config: &str) -> Vec<StackSource> {
        let system = MemorySystem::new()
            .with_file("/repo/.git/config", config)
            .with_file("/repo/apps/shop/project.yaml", project)
            .with_file("/repo/apps/shop/dev/stack.yaml", "name: dev\n")
            .with_file("/repo/apps/shop/dev/main.k", "a = 1\n");
        let stacks = find(&system, Path::new("/repo"), &[]).expect("a stack");
        sources(&system, &stacks[0])
    }

    #[test]
    fn the_id_comes_before_the_repository() {
        let config = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@Example.com:org/repo.git\n\tfetch = x\n";
        let git = StackSource::Git {
            remote: "example.com/org/repo".to_owned(),
            folder: "apps/shop/dev".to_owned(),
        };
        assert_eq!(sources_of("name: shop\n", config), std::slice::from_ref(&git));
        let id = StackSource::Project { id: "shop-1".to_owned() };
        assert_eq!(sources_of("name: shop\nid: shop-1\n", config), [id.clone(), git]);
        assert_eq!(sources_of("name: shop\nid: shop-1\n", ""), [id]);
        assert_eq!(sources_of("name: shop\n", "[remote \"a\"]\nurl = /srv/repo.git\n"), []);
    }

    #[test]
    fn a_work_tree_leads_to_its_repository_and_nowhere_else() {
        let source = |gitdir: &str| {
            let system = MemorySystem::new()
                .with_file("/main/.git/config", "[remote \"origin\"]\nurl = https://h/r\n")
                .with_file("/main/.git/worktrees/w/commondir", "../..\n")
                .with_file("/main/.git/worktrees/w/gitdir", "/w/.git\n")
                .with_file("/main/.git/worktrees/x/commondir", "../..\n")
                .with_file("/main/.git/worktrees/x/gitdir", "/x/.git\n")
                .with_file("/other/.git/config", "[remote \"origin\"]\nurl = https://h/other\n")
                .with_file("/secret/config", "[remote \"origin\"]\nurl = https://h/secret\n")
                .with_file("/w/.git", format!("gitdir: {gitdir}\n"))
                .with_file("/w/dev/stack.yaml", "name: dev\n");
            git_source(&system, Path::new("/w/dev"))
        };
        let found = source("/main/.git/worktrees/w").expect("a source");
        assert_eq!(found.to_string(), "the folder `dev` of h/r");
        assert_eq!(source("/secret"), None);
        assert_eq!(source("/other/.git"), None, "a repository that is not around it");
        assert_eq!(source("/main/.git/worktrees/x"), None, "another work tree");
    }

    #[test]
    fn addresses_of_one_repository_are_equal() {
        for url in [
            "https://github.com/org/repo",
            "https://user:token@github.com/org/repo.git",
            "ssh://git@github.com:22/org/repo.git",
            "git@github.com:org/repo.git",
            "github.com:org/repo/",
        ] {
            assert_eq!(address(url).as_deref(), Some("github.com/org/repo"), "{url}");
        }
        for url in ["/srv/repo", "file:///srv/repo", "../repo", "C:/repo", "https://host", ""] {
            assert_eq!(address(url), None, "{url}");
        }
    }

    #[test]
    fn the_remote_is_origin_or_the_only_one() {
        let remote = |name: &str, url: &str| format!("[remote \"{name}\"]\n  url = {url}\n");
        let two = remote("up", "https://a/b") + &remote("origin", "https://c/d");
        assert_eq!(remote_of(&two), Some("https://c/d"));
        assert_eq!(remote_of(&remote("up", "https://a/b")), Some("https://a/b"));
        assert_eq!(remote_of(&(remote("a", "x") + &remote("b", "y"))), None);
        assert_eq!(remote_of("[branch \"main\"]\nurl = x\n"), None);
    }
}
