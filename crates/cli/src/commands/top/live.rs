//! The loop between a job, a screen and a keyboard. The terminal is restored whatever ends it: a key, a
//! signal, the end of the job, an error, a panic.

use super::control::{Control, Reaction};
use super::plain;
use super::rows;
use super::screen::{self, Picture};
use crate::errors::TerminalError;
use crate::jobs::observation::{BETWEEN_LOOKS, FirstLook};
use crate::jobs::watch::{JobEnded, JobView, JobWatch};
use crate::output::terminal::colours_are_welcome;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why the view was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The user, or a signal, wanted it.
    Asked,
    /// The job has ended.
    JobEnded,
}

/// The longest sleep: signals are looked for so often.
const LONGEST_SLEEP: Duration = Duration::from_millis(200);

/// Shows the job until somebody leaves, or it ends.
pub fn show(watch: JobWatch, control: Control) -> Result<Leave, TerminalError> {
    let is_asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&is_asked))?;
    }
    let terminal = ratatui::try_init()?;
    let picture = Picture {
        title: plain::title(watch.job()),
        has_colours: colours_are_welcome(),
        ..Picture::default()
    };
    let next_view = Instant::now() + control.interval;
    let mut live =
        Live { watch, control, terminal, picture, view: None, first_look: None, next_view, shown: 0 };
    let left = live.run(&is_asked);
    ratatui::restore();
    left
}

struct Live {
    watch: JobWatch,
    control: Control,
    terminal: DefaultTerminal,
    picture: Picture,
    view: Option<JobView>,
    first_look: Option<FirstLook>,
    next_view: Instant,
    shown: usize,
}

impl Live {
    fn run(&mut self, is_asked: &AtomicBool) -> Result<Leave, TerminalError> {
        self.draw()?;
        while !is_asked.load(Ordering::Relaxed) {
            let now = Instant::now();
            match self.look(now) {
                Err(JobEnded) => return Ok(Leave::JobEnded),
                Ok(false) => {}
                Ok(true) => self.draw()?,
            }
            let sleep = self.watch.until_sample(now).min(self.until_look(now)).min(LONGEST_SLEEP);
            if !event::poll(sleep)? {
                continue;
            }
            let reaction = match event::read()? {
                Event::Key(key) => self.control.press(&key, self.picture.rows.len(), self.shown),
                Event::Resize(..) => Reaction::Draw,
                _ => Reaction::None,
            };
            match reaction {
                Reaction::Leave => return Ok(Leave::Asked),
                Reaction::Suspend => self.suspend()?,
                Reaction::Draw => {
                    self.next_view = self.next_view.min(now + self.control.interval);
                    self.put_in_order();
                    self.draw()?;
                }
                Reaction::None => {}
            }
        }
        Ok(Leave::Asked)
    }

    /// Until the next of the two looks.
    fn until_look(&self, now: Instant) -> Duration {
        let next = match self.first_look {
            Some(_) => self.next_view,
            None => self.next_view.checked_sub(BETWEEN_LOOKS).unwrap_or(now),
        };
        next.saturating_duration_since(now)
    }

    /// Does what is due; returns whether there is something new to see.
    fn look(&mut self, now: Instant) -> Result<bool, JobEnded> {
        self.watch.sample(now)?;
        if !self.until_look(now).is_zero() {
            return Ok(false);
        }
        let Some(first) = self.first_look.take() else {
            self.first_look = Some(self.watch.first_look());
            self.next_view = now + BETWEEN_LOOKS;
            return Ok(false);
        };
        self.next_view = now + self.control.interval;
        let view = self.watch.second_look(first, now)?;
        if self.control.stands_still && self.view.is_some() {
            return Ok(false);
        }
        self.view = Some(view);
        self.put_in_order();
        Ok(true)
    }

    fn put_in_order(&mut self) {
        let Some(view) = &self.view else { return };
        self.picture.rows = rows::rows(view, self.control.order, self.control.is_reversed);
        self.picture.summary = rows::summary(view);
        self.picture.sentences = view.findings.iter().map(|finding| finding.sentence.clone()).collect();
    }

    fn draw(&mut self) -> Result<(), TerminalError> {
        let Live { terminal, picture, control, shown, .. } = self;
        terminal.draw(|frame| *shown = screen::draw(frame, picture, control))?;
        Ok(())
    }

    fn suspend(&mut self) -> Result<(), TerminalError> {
        ratatui::restore();
        kill_process(getpid(), Signal::TSTP).map_err(std::io::Error::from)?;
        // Here the shell has continued this process.
        self.terminal = ratatui::try_init()?;
        self.draw()
    }
}
