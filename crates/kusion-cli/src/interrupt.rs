//! Runs the asynchronous part of a command, and handles interruptions.

use crate::failure::Failure;
use crate::view::View;
use kusion_engine::Stop;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The exit code of an interrupted command.
const INTERRUPTED: i32 = 130;

/// The longest time to wait for background tasks when a command has finished: everything that must
/// be durable is durable by then.
const SHUTDOWN: Duration = Duration::from_secs(1);

/// Runs a read-only operation: an interruption ends it immediately.
pub(crate) fn read<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        tokio::select! {
            biased;
            () = interruption() => Err(Failure::Interrupted),
            done = work => done,
        }
    });
    runtime.shutdown_timeout(SHUTDOWN);
    done
}

/// Runs an operation that changes something: the first interruption lets running steps finish, the
/// second one ends the process immediately.
pub(crate) fn change<T>(
    view: &Arc<View>,
    stop: &Stop,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = runtime()?;
    runtime.spawn(stop_at_interruption(Arc::clone(view), stop.clone()));
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(SHUTDOWN);
    done
}

fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().enable_all().build().map_err(Failure::Threads)
}

async fn stop_at_interruption(view: Arc<View>, stop: Stop) {
    interruption().await;
    if !view.is_asking() {
        view.notice(
            "stopping: running steps finish and are recorded; \
             press Ctrl-C again to stop immediately",
        );
    }
    stop.ask();
    interruption().await;
    view.end();
    view.notice("stopped immediately; the next run checks what the interrupted calls did");
    std::process::exit(INTERRUPTED);
}

/// Waits until the user or the system asks the process to end.
#[cfg(unix)]
async fn interruption() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// Waits until the user or the system asks the process to end.
#[cfg(windows)]
async fn interruption() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
