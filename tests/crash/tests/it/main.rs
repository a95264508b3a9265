//! Kills at every point of every step.

use kusion_crash::{Arena, Infrastructure, Variant};
use std::path::Path;

/// Kills an operation at each of its points; the next run must finish it. `back` returns to
/// where it began.
fn survives(arena: &Arena, what: &str, end: Option<Variant>, back: &str) {
    let points = arena.run(what).expect("the operation works");
    assert!(points.len() > 20, "{what} passes only {points:?}");
    for point in points {
        arena.run(back).expect("the way back works");
        let killed = arena.kill_at(what, &point).expect("the driver starts");
        assert!(!killed.status.success(), "{what} was not killed at `{point}`");
        let finished = arena.run(what).and_then(|_| arena.check(end));
        assert!(finished.is_ok(), "{what} killed at `{point}`: {finished:?}");
    }
    arena.run(back).expect("the way back works");
}

fn every_operation_survives(infrastructure: Infrastructure, name: &str) {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("crash-{name}"));
    let _ = std::fs::remove_dir_all(&root);
    let driver = Path::new(env!("CARGO_BIN_EXE_crash-driver"));
    let arena = Arena::new(driver, &root, infrastructure, 20).expect("there is an arena");
    survives(&arena, "first", Some(Variant::First), "destroy");
    arena.run("first").expect("the stack is made");
    survives(&arena, "changed", Some(Variant::Changed), "first");
    // Nothing on a host is replaced.
    if infrastructure != Infrastructure::Host {
        survives(&arena, "replaced", Some(Variant::Replaced), "first");
    }
    survives(&arena, "destroy", None, "first");
    let _ = std::fs::remove_dir_all(&root);
}

#[test]
fn things_with_ids_of_their_own_survive_every_kill() {
    every_operation_survives(Infrastructure::Folder, "folder");
}

#[test]
fn objects_of_a_cluster_survive_every_kill() {
    every_operation_survives(Infrastructure::Cluster, "cluster");
}

#[test]
fn files_of_a_host_survive_every_kill() {
    every_operation_survives(Infrastructure::Host, "host");
}

fn random_kills_leave_nothing(infrastructure: Infrastructure, name: &str) {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("soak-{name}"));
    let _ = std::fs::remove_dir_all(&root);
    let driver = Path::new(env!("CARGO_BIN_EXE_crash-driver"));
    let arena = Arena::new(driver, &root, infrastructure, 50).expect("there is an arena");
    let figures = kusion_crash::soak(&arena, 20, fastrand::u64(..)).expect("operations work");
    assert!(figures.is_clean(), "{figures}\n{:#?}", figures.findings);
    let _ = std::fs::remove_dir_all(&root);
}

#[test]
fn random_kills_leave_nothing_of_things_behind() {
    random_kills_leave_nothing(Infrastructure::Folder, "folder");
}

#[test]
fn random_kills_leave_nothing_of_objects_behind() {
    random_kills_leave_nothing(Infrastructure::Cluster, "cluster");
}

#[test]
fn random_kills_leave_nothing_of_files_behind() {
    random_kills_leave_nothing(Infrastructure::Host, "host");
}
