//! How a rank waits on a communicator: it looks, gives way, sleeps, moves on what else is under way,
//! and sees whether the others live.

use crate::clock::Ticks;
use crate::collective::call::Kind;
use crate::comm::shared::Served;
use crate::communicator::node::{Comm, Revoked};
use crate::message;
use crate::wait::chores::HostWatch;
use crate::wait::settings::Wait;

/// Looks of a wait from one for messages that nobody here is waiting for to the next.
const UNASKED: u32 = 8;

impl Comm {
    /// Looks again and again until `done`; the time it took. Nonblocking operations are moved on meanwhile.
    pub fn wait(
        &self,
        served: &Served,
        kind: Kind,
        expected_ns: u64,
        done: impl FnMut() -> bool,
    ) -> Result<u64, Revoked> {
        self.wait_asleep(served, kind, expected_ns, done, |timeout, done| {
            if self.with(|state| state.wants_room) {
                served.board.sleep_until_room(served.fencing_of(kind), timeout, done);
            } else {
                served.board.sleep_unless(served.fencing_of(kind), timeout, done);
            }
        })
    }

    /// The same for what is not announced at the communicator's bell: `sleep(timeout, done)` sleeps where
    /// it is.
    pub(crate) fn wait_asleep(
        &self,
        served: &Served,
        kind: Kind,
        expected_ns: u64,
        mut done: impl FnMut() -> bool,
        sleep: impl Fn(u64, &mut dyn FnMut() -> bool),
    ) -> Result<u64, Revoked> {
        let world = served.world;
        let mut wait = Wait::begin();
        let mut watch = HostWatch::new(world.patience_ns);
        loop {
            if crate::nonblocking::request::pending() > 0 {
                crate::nonblocking::request::progress_all();
            }
            // What comes unasked needs this rank only when it fills its channel: it is not worth a look at
            // all channels each time.
            if message::is_busy() || wait.looks % UNASKED == 0 {
                message::progress();
            }
            if done() {
                break;
            }
            if self.is_revoked() {
                return Err(Revoked);
            }
            if wait.once(&served.waiting, expected_ns, || world.anybody_runs(&served.places)) {
                message::progress();
                let timeout =
                    watch.nap_ns(crate::nonblocking::request::pending() > 0 || message::incomplete() > 0);
                sleep(timeout, &mut done);
                // A sleeper cannot tell how it woke; the loop looks again.
            }
            if wait.looks % 32 == 31 || wait.looks > 32 {
                let waited = Ticks::now().ns_since(wait.began);
                if watch.due(waited) {
                    if self.has_lost_members(served) {
                        return Err(Revoked);
                    }
                    world.check_alive(served.places.iter().copied(), &title(kind));
                }
            }
        }
        let now = Ticks::now();
        let waited = now.ns_since(wait.began);
        if world.recording {
            world.timeline.add(now.ns_since(world.began), waited);
        }
        Ok(waited)
    }
}

/// "barrier" → "Barrier", as in MPI_Barrier.
fn title(kind: Kind) -> String {
    let name = kind.name();
    name[..1].to_uppercase() + &name[1..]
}
