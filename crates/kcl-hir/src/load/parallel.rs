//! Parsing many files at once.

use kcl_syntax::Parsed;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// Below so many bytes of text, threads cost more than they give: each has memory of its own.
const MIN_TEXT: usize = 3 << 20;

/// More threads would wait for memory.
const MAX_THREADS: usize = 8;

/// Enough for the deepest tree that the parser makes; only what is used is taken.
const STACK: usize = 64 << 20;

/// Parses texts on several threads; `None` if that is not worth it.
pub(super) fn parse_all(texts: &[&str]) -> Option<Vec<Parsed>> {
    if texts.len() < 2 || texts.iter().map(|text| text.len()).sum::<usize>() < MIN_TEXT {
        return None;
    }
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    if n_threads < 2 {
        return None;
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut parsed = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(at) else { return parsed };
            parsed.push((at, kcl_syntax::parse_code(text)));
        }
    };
    let mut parsed = thread::scope(|scope| {
        let spawn = |_| Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        let threads: Vec<_> = (1..n_threads).filter_map(spawn).collect();
        let mut parsed = work();
        for thread in threads {
            match thread.join() {
                Ok(more) => parsed.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parsed
    });
    parsed.sort_unstable_by_key(|(at, _)| *at);
    Some(parsed.into_iter().map(|(_, parsed)| parsed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_come_in_the_order_of_texts() {
        let text = |n: usize| format!("a{n} = {n}\n# {}\n", "-".repeat(200_000));
        let texts: Vec<String> = (0..20).map(text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (text, parsed) in texts.iter().zip(parse_all(&texts).into_iter().flatten()) {
            assert_eq!(parsed.module, kcl_syntax::parse_code(text).module);
        }
        assert!(parse_all(&texts[..5]).is_none());
    }
}
