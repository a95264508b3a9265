//! A process that is paused in the middle of an operation, while another one takes the stack:
//! nothing that it does afterwards counts, and nothing is lost or made twice.

use anyhow::{Context as _, Result, ensure};
use kusion_crash::{Arena, Infrastructure, Variant};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use testkit::{Suite, server};

/// Longer than a lease lasts.
const PATIENCE: Duration = Duration::from_mins(1);

fn main() -> ExitCode {
    let mut suite = Suite::default();
    suite.add("on_sqlite_a_paused_process_is_fenced_off", || {
        every_pause_is_survived("sqlite", "");
    });
    suite.add_with(
        "on_postgres_a_paused_process_is_fenced_off",
        server("KUSION_TEST_POSTGRES"),
        |backend| every_pause_is_survived("postgres", &backend),
    );
    suite.add_with("on_s3_a_paused_process_is_fenced_off", server("KUSION_TEST_S3"), |backend| {
        every_pause_is_survived("s3", &backend);
    });
    suite.run()
}

fn every_pause_is_survived(name: &str, backend: &str) {
    std::thread::scope(|scope| {
        for (infrastructure, id) in [
            (Infrastructure::Folder, "fake:thing:t5"),
            (Infrastructure::Cluster, "v1:ConfigMap:crash:c5"),
        ] {
            for point in ["Began", "Removed", "Called", "Ended"] {
                scope.spawn(move || {
                    let root = format!("paused-{name}-{infrastructure:?}-{point}");
                    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(root);
                    let _ = std::fs::remove_dir_all(&root);
                    let end = pause(&root, backend, infrastructure, &format!("{point} {id}"));
                    assert!(end.is_ok(), "{infrastructure:?}, paused at {point}: {end:?}");
                    let _ = std::fs::remove_dir_all(&root);
                });
            }
        }
    });
}

/// Pauses a process at a point, lets another one finish its work, and lets it go on.
fn pause(root: &Path, backend: &str, what: Infrastructure, point: &str) -> Result<()> {
    let driver = Path::new(env!("CARGO_BIN_EXE_crash-driver"));
    let arena = Arena::new(driver, root, what, 12)?.with_backend(backend);
    arena.run("first")?;
    let paused = arena.pause_at("replaced", point)?;
    let refused = arena.run("replaced").err().context("a paused process may go on soon")?;
    let holder = format!("(process {}, `crash-driver`)", paused.id());
    ensure!(refused.to_string().contains(&holder), "{refused}");
    arena.run_after("replaced", PATIENCE)?;
    arena.check(Some(Variant::Replaced))?;
    let output = paused.go_on()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(!output.status.success(), "the paused process believes that it finished");
    // Its late write is refused. Right before a call it may find first that it is late.
    let is_late = point.starts_with("Began") && error.contains("could not be renewed for");
    ensure!(is_late || error.contains("was locked by"), "{error}");
    arena.check(Some(Variant::Replaced)).context("after the paused process went on")?;
    // What is there is what the next run finds.
    arena.run("replaced")?;
    arena.check(Some(Variant::Replaced))
}
