//! Kills operations at random times, many times: `crash-soak DRIVER ROOT folder|cluster SIZE KILLS
//! [SEED]`.
//!
//! An operation is killed until it gets through; then everything is checked, and the next one
//! begins. Prints what it did and the start value of its random numbers.

use anyhow::{Context as _, Result, bail};
use kusion_crash::{Arena, Infrastructure, Variant};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [driver, root, what, size, kills, ..] = arguments.as_slice() else {
        bail!("usage: crash-soak DRIVER ROOT folder|cluster SIZE KILLS [SEED]");
    };
    let seed = arguments.get(5).map_or(Ok(1), |it| it.parse()).context("the seed is a number")?;
    let mut random = fastrand::Rng::with_seed(seed);
    let infrastructure = match what.as_str() {
        "folder" => Infrastructure::Folder,
        "cluster" => Infrastructure::Cluster,
        _ => bail!("`{what}` is neither folder nor cluster"),
    };
    let size: usize = size.parse().context("the size is a number")?;
    let kills: usize = kills.parse().context("the number of kills is a number")?;
    let arena = Arena::new(Path::new(driver), Path::new(root), infrastructure, size)?;
    let operations = [
        ("first", Some(Variant::First)),
        ("changed", Some(Variant::Changed)),
        ("replaced", Some(Variant::Replaced)),
        ("destroy", None),
    ];
    let mut done = 0;
    let mut finished = 0;
    let mut longest = vec![Duration::from_millis(300); operations.len()];
    'all: loop {
        for (place, (operation, end)) in operations.iter().enumerate() {
            loop {
                let limit = longest[place].as_micros() as u64;
                let time = Duration::from_micros(random.u64(0..limit.max(1)));
                let start = Instant::now();
                if arena.kill_after(operation, time).context("a run was refused")? {
                    done += 1;
                    // Most kills should hit, and some runs get through.
                    longest[place] += Duration::from_millis(5);
                } else {
                    longest[place] = start.elapsed();
                    break;
                }
                if done >= kills {
                    arena.run(operation).context("a run was refused")?;
                    arena.check(*end)?;
                    break 'all;
                }
            }
            arena.check(*end).with_context(|| format!("after {done} kills, {operation}"))?;
            finished += 1;
        }
    }
    writeln!(
        std::io::stdout(),
        "{done} kills over {size} resources, {finished} operations finished, seed {seed}: \
         0 orphans, 0 duplicates, 0 unreadable states, 0 refused runs"
    )?;
    Ok(())
}
