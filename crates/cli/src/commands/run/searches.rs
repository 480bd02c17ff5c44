//! Searches for machines of a job, which may take some seconds each, while this process does other things.

use crate::jobs::machines::{Found, Search};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After this time machines are tried again that could not be looked at, and then ever more seldom: their
/// ranks may have been in MPI_Init, or a network was down.
pub const TRY_AGAIN: Duration = Duration::from_secs(3);
const TRY_SELDOM: Duration = Duration::from_secs(60);

/// One search after the other.
pub struct Searches {
    running: Option<JoinHandle<Found>>,
    /// When the next one may begin, if ever.
    next: Option<Instant>,
    /// How long it is waited for the one after that.
    pause: Duration,
    begun: u32,
}

impl Searches {
    /// The first one may begin after some time.
    pub fn after(time: Duration) -> Searches {
        Searches { running: None, next: Some(Instant::now() + time), pause: TRY_AGAIN, begun: 0 }
    }

    /// What a search has found that has ended.
    pub fn found(&mut self) -> Option<Found> {
        self.running.take_if(|search| search.is_finished()).and_then(|search| search.join().ok())
    }

    /// Whether it is time for another one. Says so once.
    pub fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let is_due = self.running.is_none() && self.next.is_some_and(|next| next <= now);
        if is_due {
            self.next = Some(now + self.pause);
            if self.begun > 0 {
                self.pause = (self.pause * 2).min(TRY_SELDOM);
            }
        }
        is_due
    }

    /// Begins one.
    pub fn begin(&mut self, search: Search) {
        self.begun += 1;
        self.running = Some(std::thread::spawn(|| search.run()));
    }

    /// There is no other one.
    pub fn give_up(&mut self) {
        self.next = None;
    }

    /// How many have begun.
    pub fn begun(&self) -> u32 {
        self.begun
    }
}
