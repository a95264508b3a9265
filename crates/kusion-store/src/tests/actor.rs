//! A process that locks the stack, writes records and makes calls, until it ends or is ended.

use super::world::{Actor, World};
use crate::error::StoreError;
use crate::holder::Holder;
use crate::lease::LockWait;
use crate::machine::Machine as _;
use crate::session::Session;
use kusion_model::{Operation, Record, ReleaseHead};
use std::sync::Arc;
use std::time::Duration;

/// Starts a process.
pub(super) fn start(world: &World) {
    let Some(actor) = world.spawn() else { return };
    let world = world.clone();
    tokio::spawn(async move { live(&world, &actor).await });
}

async fn live(world: &World, actor: &Arc<Actor>) {
    let store = world.store(actor);
    let holder = Holder {
        user: "user".into(),
        host: actor.host(),
        pid: actor.pid,
        started: actor.started,
        machine: actor.id(),
        command: "test".into(),
        is_brief: world.pick(0..4) == 0,
    };
    while !world.is_over() {
        let wait = match world.pick(0..3) {
            0 => LockWait::No,
            _ => LockWait::For(Duration::from_secs(world.pick(1..40))),
        };
        match store.lock(&World::key(), holder.clone(), wait).await {
            Ok(session) => work(world, actor, session).await,
            Err(StoreError::Held { .. } | StoreError::Fenced { .. } | StoreError::Stale { .. }) => {
            }
            Err(error) => world.problem(error.to_string()),
        }
        pause(world, actor, 3000).await;
    }
    World::exit(actor);
}

async fn work(world: &World, actor: &Actor, opened: Session) {
    let session = opened.epoch();
    actor.pass().await;
    world.locked(session);
    for _ in 0..world.pick(1..12) {
        let revision = world.next_revision();
        match opened.append(vec![record(world, revision)]).await {
            Ok(_) => {
                actor.pass().await;
                world.confirmed(revision);
            }
            Err(StoreError::Fenced { .. }) => return world.fenced(session),
            Err(error) => return world.problem(error.to_string()),
        }
        // A step makes several calls: retries, and the two of a replacement.
        for _ in 0..world.pick(0..4) {
            pause(world, actor, 5000).await;
            if opened.check().is_err() {
                break;
            }
            world.called(session, actor);
        }
    }
    if world.pick(0..3) == 0 {
        drop(opened);
    } else {
        let _ = opened.close().await;
    }
    actor.pass().await;
    world.released(session);
}

async fn pause(world: &World, actor: &Actor, most: u64) {
    tokio::time::sleep(Duration::from_millis(world.pick(0..most))).await;
    actor.pass().await;
}

fn record(world: &World, revision: u64) -> Record {
    // Now and then so much that the journal is summed up.
    let size = if world.pick(0..6) == 0 { 150_000 } else { 20 };
    Record::ReleaseOpened(ReleaseHead {
        revision,
        operation: Operation::Apply,
        operator: String::new(),
        engine: String::new(),
        spec_digest: String::new(),
        plan_digest: String::new(),
        saved_plan: None,
        message: "x".repeat(size),
        git: None,
    })
}
