//! Kills operations at random times, many times: `crash-soak DRIVER ROOT folder|cluster|host SIZE KILLS
//! [SEED]`.
//!
//! Prints one line of figures, what was found below it, and fails if anything was.

use anyhow::{Context as _, Result, bail, ensure};
use kusion_crash::{Arena, Infrastructure, soak};
use std::io::Write as _;
use std::path::Path;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [driver, root, what, size, kills, ..] = arguments.as_slice() else {
        bail!("usage: crash-soak DRIVER ROOT folder|cluster|host SIZE KILLS [SEED]");
    };
    let seed = arguments.get(5).map_or(Ok(1), |it| it.parse()).context("the seed is a number")?;
    let infrastructure = match what.as_str() {
        "folder" => Infrastructure::Folder,
        "cluster" => Infrastructure::Cluster,
        "host" => Infrastructure::Host,
        _ => bail!("`{what}` is neither folder, cluster nor host"),
    };
    let size: usize = size.parse().context("the size is a number")?;
    let kills: usize = kills.parse().context("the number of kills is a number")?;
    let arena = Arena::new(Path::new(driver), Path::new(root), infrastructure, size)?;
    let figures = soak(&arena, kills, seed)?;
    let mut out = std::io::stdout();
    writeln!(out, "{what}, {size} resources, seed {seed}: {figures}")?;
    for finding in &figures.findings {
        writeln!(out, "  {finding}")?;
    }
    ensure!(figures.is_clean(), "kills have left something behind");
    Ok(())
}
