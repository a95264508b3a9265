//! Runs a program on a pseudo-terminal and takes pictures of its screen.
//!
//! A program that redraws a part of its output moves the cursor up first. What the screen shows at
//! that moment is a complete [`Frame`]. [`Session::wait_for`] returns a frame with given texts,
//! and [`Session::finish`] the screen at the end. [`svg::picture`] draws frames as an SVG file.

mod screen;
pub mod svg;

use anyhow::{Context as _, bail, ensure};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use screen::Screen;
pub use screen::{Attributes, Frame, Line, Run};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Written to the terminal after the end of the program, so that all of its output was read.
const END: u8 = 0;
/// A program that does not show what is expected in this time is stuck.
const STUCK: Duration = Duration::from_mins(1);

/// How often a session checks whether its program still runs.
const LOOK: Duration = Duration::from_millis(500);

/// A program that runs on a terminal.
pub struct Session {
    child: Child,
    /// The end of the terminal that the program uses.
    inner: File,
    /// The end of the terminal that a user would see.
    outer: File,
    output: Receiver<Vec<u8>>,
    screen: Screen,
    frames: std::vec::IntoIter<Frame>,
}

impl Session {
    /// Starts a program on a terminal of the given size.
    ///
    /// # Errors
    ///
    /// If there is no terminal, or the program cannot be started.
    pub fn start(mut command: Command, columns: u16, lines: u16) -> anyhow::Result<Self> {
        let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(&size, None)?;
        for end in [&pair.master, &pair.slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        let (inner, outer) = (File::from(pair.slave), File::from(pair.master));
        command.stdin(inner.try_clone()?).stdout(inner.try_clone()?).stderr(inner.try_clone()?);
        let child = command.spawn().context("cannot start the program")?;
        let (sender, output) = channel();
        let mut reader = outer.try_clone()?;
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n_read) = reader.read(&mut bytes) {
                let is_last = bytes[..n_read].contains(&END);
                if sender.send(bytes[..n_read].to_vec()).is_err() || is_last || n_read == 0 {
                    return;
                }
            }
        });
        let screen = Screen::new(usize::from(columns));
        Ok(Self { child, inner, outer, output, screen, frames: Vec::new().into_iter() })
    }

    /// Waits until a frame is as expected and the next frame is the same.
    ///
    /// `mask` replaces what differs between two frames or two runs, such as times.
    ///
    /// # Errors
    ///
    /// If the program ends, or does not show it in a minute.
    pub fn wait_for(
        &mut self,
        is_expected: &dyn Fn(&str) -> bool,
        mask: &dyn Fn(&str) -> String,
    ) -> anyhow::Result<Frame> {
        let start = Instant::now();
        let mut last = None;
        loop {
            let Some(frame) = self.frames.next() else {
                self.read_on()?;
                continue;
            };
            let frame = frame.masked(mask);
            if last.as_ref() == Some(&frame) {
                return Ok(frame);
            }
            let text = frame.text();
            ensure!(start.elapsed() < STUCK, "not shown in time; the screen shows:\n{text}");
            last = is_expected(&text).then_some(frame);
        }
    }

    /// Waits until the last line of the screen is `prompt`.
    ///
    /// # Errors
    ///
    /// If the program ends, or does not show it in a minute.
    pub fn wait_for_prompt(&mut self, prompt: &str) -> anyhow::Result<()> {
        while self.screen.frame().text().lines().last() != Some(prompt) {
            self.read_on().with_context(|| format!("waiting for `{prompt}`"))?;
        }
        Ok(())
    }

    /// Reads some output; fails at its end.
    fn read_on(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        let bytes = loop {
            // Asked first: what a program wrote before its end is there soon after it.
            let is_over = self.child.try_wait()?.is_some();
            match self.output.recv_timeout(LOOK) {
                Ok(bytes) => break bytes,
                Err(_) if !is_over && start.elapsed() < STUCK => {}
                Err(_) => {
                    bail!("no more output; the screen shows:\n{}", self.screen.frame().text())
                }
            }
        };
        self.frames = self.screen.feed(&bytes)?.into_iter();
        Ok(())
    }

    /// Types a text.
    ///
    /// # Errors
    ///
    /// If the terminal is closed.
    pub fn type_text(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(self.outer.write_all(text.as_bytes())?)
    }

    /// Interrupts the program, as Ctrl-C does.
    ///
    /// # Errors
    ///
    /// If the program has ended.
    pub fn interrupt(&self) -> anyhow::Result<()> {
        Ok(kill(Pid::from_raw(i32::try_from(self.child.id())?), Signal::SIGINT)?)
    }

    /// Waits for the end of the program; returns what the screen shows then.
    ///
    /// # Errors
    ///
    /// If the program writes nothing for a minute and does not end, or if the output contains an
    /// escape sequence that [`screen`] does not know.
    pub fn finish(mut self) -> anyhow::Result<(Frame, ExitStatus)> {
        let mut start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(20)) {
                self.screen.feed(&bytes)?;
                start = Instant::now();
            }
            let text = || self.screen.frame().text();
            ensure!(start.elapsed() < STUCK, "it does not end; the screen shows:\n{}", text());
        };
        self.inner.write_all(&[END])?;
        while let Ok(bytes) = self.output.recv() {
            let n_bytes = bytes.iter().position(|byte| *byte == END).unwrap_or(bytes.len());
            self.screen.feed(&bytes[..n_bytes])?;
        }
        Ok((self.screen.frame(), status))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A test that failed leaves no process behind; one that ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Session {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Session::start(command, 20, 10).unwrap()
    }

    #[test]
    fn frames_are_what_the_screen_shows_before_it_is_redrawn() {
        let script = r"printf 'start\n'; for i in 1 2 3 4; do printf '\033[32mready\033[0m %ss\n' $i
            printf '\033[1A\r\033[J'; done; read answer; printf 'end %s\n' $answer; exit 3";
        let mut session = shell(script);
        let mask = |text: &str| text.replace(|it: char| it.is_ascii_digit(), "0");
        let frame = session.wait_for(&|text| text.contains("ready"), &mask).unwrap();
        assert_eq!(frame.text(), "start\nready 0s\n");
        assert_eq!(frame.escaped(), "start\n\\e[32mready\\e[0m 0s\n");
        session.type_text("x\n").unwrap();
        let (frame, status) = session.finish().unwrap();
        assert_eq!((frame.text().as_str(), status.code()), ("start\nx\nend x\n", Some(3)));
    }

    #[test]
    fn prompts_are_awaited_and_programs_interrupted() {
        // Where the tests run in the background, interrupts are ignored, and a shell cannot change
        // that for itself.
        let reset = Command::new("env").args(["--default-signal=INT", "true"]).status();
        let can_reset = reset.is_ok_and(|it| it.success());
        let mut command = Command::new("env");
        command.args(can_reset.then_some("--default-signal=INT"));
        command.args(["sh", "-c"]);
        command.arg("trap 'echo bye; exit 5' INT; printf 'sure? '; while :; do sleep 0.01; done");
        let mut session = Session::start(command, 20, 10).unwrap();
        session.wait_for_prompt("sure? ").unwrap();
        session.interrupt().unwrap();
        let (frame, status) = session.finish().unwrap();
        assert_eq!((frame.text().as_str(), status.code()), ("sure? bye\n", Some(5)));
    }

    #[test]
    fn a_text_that_never_comes_is_an_error() {
        let error = shell("echo a").wait_for(&|_| true, &str::to_owned).err().unwrap();
        assert!(format!("{error:#}").contains("shows:\na"), "{error:#}");
    }
}
