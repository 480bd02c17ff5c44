//! Direct collectives as a rank carries them out: it says what it has to say, and waits for the others.
//!
//! Of the ranks of a node that wait for other nodes one is the reader: it looks for datagrams, and sleeps for
//! them. The others sleep at the communicator's eventcount, where the reader wakes them when something has
//! come, and when it goes. Ranks that wait for ranks of their own node sleep there, too.

use super::awaited::Awaited;
use crate::collective::call::Call;
use crate::comm::part::Revoked;
use crate::communicator::Communicator;
use crate::communicator::spanning::SpanningCommunicator;
use crate::direct::collective::{DirectCollective, Mismatch, Progress};
use crate::direct::description::Description;
use crate::direct::part::DirectPart;
use crate::job::agent_commands::AgentCommand;
use crate::job::direct_link::DirectLink;
use crate::job::node::Node;
use crate::process::Process;
use crate::wait::chores::Chores;
use crate::wait::settings::{WAKE_UP_NS, WaitPolicy, WaitSettings};
use evenkeel_datagram::Frame;
use evenkeel_segment::Segment;
use evenkeel_segment::datagrams::Datagrams;
use std::sync::PoisonError;

/// After this long a rank asks its agent whether something has been lost.
const FIRST_QUESTION_NS: u64 = 5_000_000;
/// How long the agents' answer takes, about.
const ANSWER_NS: u64 = 1_000_000;
/// The longest time between two questions.
const RAREST_QUESTION_NS: u64 = 100_000_000;

/// For how long a rank looks on at most that does not give its core to others when it yields.
const UNYIELDING_NS: u64 = 100_000;

/// The turn of a rank that waits for other nodes: whether it is the reader.
struct Turn<'a> {
    datagrams: Datagrams<'a, Segment>,
    local_rank: usize,
    waits: bool,
}

impl Turn<'_> {
    /// Whether this rank is the reader; it tries to become it.
    fn is_reader(&mut self) -> bool {
        if !std::mem::replace(&mut self.waits, true) {
            self.datagrams.begin_waiting();
        }
        self.datagrams.try_read(self.local_rank)
    }

    /// Waits for other nodes no more. True if another rank has to be woken, which then reads.
    fn end(&mut self) -> bool {
        if !std::mem::take(&mut self.waits) {
            return false;
        }
        self.datagrams.end_waiting();
        self.datagrams.stop_reading(self.local_rank)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// For how long a rank looks on before it sleeps. It sleeps at once where waits have been long lately. Ranks
/// that sleep make each other wait; so what counts as long is longer than a round in which all sleep.
fn look_on_ns(settings: &WaitSettings, expected_ns: u64) -> u64 {
    let long = settings.worth_sleeping_ns();
    match settings.policy {
        WaitPolicy::Auto if expected_ns > long => 0,
        WaitPolicy::Auto if settings.shares_cores() && !settings.yield_works => UNYIELDING_NS,
        WaitPolicy::Auto => 2 * long,
        WaitPolicy::SpinBlock => WAKE_UP_NS,
        WaitPolicy::Block => 0,
        WaitPolicy::Spin | WaitPolicy::Yield => u64::MAX,
    }
}

/// One collective, and what it takes to move it on.
struct Operation<'a> {
    spanning: &'a SpanningCommunicator,
    direct: &'a DirectPart,
    node: &'static Node,
    link: &'a DirectLink,
    collective: DirectCollective,
}

impl Operation<'_> {
    /// Does what can be done now, and wakes ranks here that may sleep for it.
    fn poll(&mut self) -> Progress {
        let Operation { direct, node, link, .. } = *self;
        let number = self.collective.number();
        let mut parts = direct.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = self.collective.poll(&direct.statements, &mut parts, |outgoing| {
            direct.send(node, link, number, outgoing);
        });
        if self.collective.take_news() {
            self.spanning.service.part.shared.board.notify();
        }
        outcome.unwrap_or_else(|mismatch| self.end_job(mismatch))
    }

    #[cold]
    fn end_job(&self, Mismatch { node, theirs }: Mismatch) -> ! {
        let (mine, host) = (self.collective.description(), self.spanning.host(node));
        self.node.end(&mismatch_sentence(self.node.me, host, mine, theirs))
    }
}

fn mismatch_sentence(me: usize, host: &str, mine: Description, theirs: Description) -> String {
    let name = |description: Description| description.kind.mpi_name().to_string_lossy();
    let what = |of: Description| match of.bytes {
        0 => name(of).to_string(),
        bytes => format!("{} with {bytes} bytes", name(of)),
    };
    let (mine, theirs) = match (what(mine), what(theirs)) {
        (mine, theirs) if mine == theirs => (mine, "it with another operator, type or root".to_string()),
        different => different,
    };
    format!(
        "rank {me} is in {mine} where a rank on {host} has called {theirs}; ending this job. All ranks of a \
         communicator must call the same collectives in the same order, with as many bytes"
    )
}

impl Process {
    /// Carries out a collective across nodes that ranks carry themselves. Returns when this rank has
    /// contributed what others need and received what it needs.
    ///
    /// # Safety
    /// `call` must satisfy the requirements in the documentation of [`Call`].
    pub(crate) unsafe fn run_direct(
        &self,
        spanning: &SpanningCommunicator,
        direct: &DirectPart,
        call: &Call,
        description: Description,
    ) -> Result<(), Revoked> {
        let part = &spanning.service.part;
        let node = part.shared.node;
        let link = node.agent().and_then(|agent| agent.direct.as_ref()).expect("a direct part has a link");
        let began = node.clock().now();
        // SAFETY: the caller's promise.
        let collective = unsafe { direct.begin(call, description) };
        let mut operation = Operation { spanning, direct, node, link, collective };
        let waited_ns = match operation.poll() {
            Progress::Done => 0,
            progress => {
                self.wait_directly(&mut operation, call, progress)?;
                node.clock().ns_since(began)
            }
        };
        // SAFETY: the caller's promise.
        unsafe { direct.end(call, description, &operation.collective) };
        spanning.count(call, node.clock().ns_since(began), waited_ns);
        Ok(())
    }

    fn wait_directly(
        &self,
        operation: &mut Operation<'_>,
        call: &Call,
        mut progress: Progress,
    ) -> Result<(), Revoked> {
        let Operation { spanning, node, link, .. } = *operation;
        let part = &spanning.service.part;
        let shared = &part.shared;
        let datagrams = Datagrams::new(&node.segment);
        let mut turn = Turn { datagrams, local_rank: node.local_rank, waits: false };
        let began = node.clock().now();
        let _in_call = Awaited::spanning(call).publish(part, began);
        let mut chores = Chores::new(node.patience_ns, self.library.activity());
        let look_on_ns = look_on_ns(&link.waiting, spanning.expected_ns(call.kind()));
        let (mut has_slept, mut looks) = (false, 0u32);
        let (mut next_question_ns, mut question_step_ns) = (FIRST_QUESTION_NS, FIRST_QUESTION_NS);
        let mut has_just_asked = false;
        loop {
            if self.requests.pending() > 0 {
                self.requests.progress();
            }
            if progress == Progress::AwaitsNodes && turn.is_reader() {
                self.receive_datagrams(spanning, link);
            }
            progress = operation.poll();
            if progress == Progress::Done {
                break;
            }
            if part.is_revoked() {
                return Err(Revoked);
            }
            if progress == Progress::AwaitsRanks && turn.end() {
                self.registry.wake_direct();
            }
            looks += 1;
            let waited_ns = node.clock().ns_since(began);
            // While the host library finds something to do, it has to be called again soon.
            let is_busy = has_slept && chores.is_attentive();
            if (waited_ns < look_on_ns || is_busy) && !self.crowding.is_crowded(self.clock) {
                if link.waiting.shares_cores() {
                    self.crowding.yield_core(self.clock);
                } else {
                    std::hint::spin_loop();
                }
            } else {
                has_slept = true;
                // An answer of the agents does not wake the reader.
                let answered_ns = if std::mem::take(&mut has_just_asked) { ANSWER_NS } else { u64::MAX };
                let asks_in_ns = match progress {
                    Progress::AwaitsNodes => next_question_ns.saturating_sub(waited_ns).max(ANSWER_NS),
                    _ => u64::MAX,
                };
                let nap_ns = chores.nap_ns(waited_ns, self.requests.pending() > 0);
                let nap_ns = nap_ns.min(answered_ns).min(asks_in_ns);
                if progress == Progress::AwaitsNodes && turn.is_reader() {
                    link.sleep(nap_ns);
                } else {
                    let happened = || {
                        progress = operation.poll();
                        progress == Progress::Done || (progress == Progress::AwaitsNodes && turn.is_reader())
                    };
                    let asleep_since = node.clock().now();
                    shared.board.sleep_unless(shared.board.fencing, nap_ns, happened);
                    // The reader may have been stopped. What has come is there for any rank that takes it.
                    let is_in_vain = node.clock().ns_since(asleep_since) >= nap_ns;
                    if is_in_vain && progress == Progress::AwaitsNodes && !turn.is_reader() {
                        self.receive_datagrams(spanning, link);
                    }
                }
            }
            if looks > 32 || has_slept {
                let waited_ns = node.clock().ns_since(began);
                self.do_chores(part, call.kind(), &mut chores, waited_ns)?;
                if progress == Progress::AwaitsNodes && waited_ns >= next_question_ns {
                    question_step_ns = (question_step_ns * 2).min(RAREST_QUESTION_NS);
                    next_question_ns = waited_ns + question_step_ns;
                    operation.ask_agent();
                    has_just_asked = true;
                }
            }
        }
        if turn.end() {
            self.registry.wake_direct();
        }
        if node.recording {
            let now = node.clock().now();
            node.timeline.add(node.clock().ns_between(node.began, now), node.clock().ns_between(began, now));
            node.waited.add(began, now);
        }
        Ok(())
    }

    /// Takes what has come, for this communicator or another one, and wakes ranks here that sleep for it.
    fn receive_datagrams(&self, spanning: &SpanningCommunicator, link: &DirectLink) {
        let accept = |spanning: &SpanningCommunicator, from: u32, frame: &Frame<'_>| {
            if let Some(direct) = spanning.direct() {
                direct.accept(from, frame);
            }
        };
        let mut is_of_this = false;
        link.receive(|from, frame| {
            let (Frame::Statement { communicator, .. } | Frame::Credit { communicator, .. }) = *frame else {
                return;
            };
            if spanning.id() == communicator {
                accept(spanning, from, frame);
                is_of_this = true;
                return;
            }
            match self.registry.spanning(communicator).as_deref() {
                Some(Communicator::Spanning(other)) => {
                    accept(other, from, frame);
                    other.service.part.shared.board.notify();
                }
                _ => link.keep_unknown(from, frame),
            }
        });
        if is_of_this {
            spanning.service.part.shared.board.notify();
        }
    }
}

impl Operation<'_> {
    /// Has the agents ask each other for what has not come.
    #[cold]
    fn ask_agent(&self) {
        if let Some(agent) = self.node.agent() {
            agent.send_if_room(&AgentCommand::Ask {
                id: self.spanning.id(),
                number: self.collective.number(),
                description: self.collective.description().to_word(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::call::CollectiveKind as Kind;

    #[test]
    fn the_sentence_says_what_differs() {
        let of = |kind, bytes, operator| Description { kind, operator, bytes, hub: 0, root: 0 };
        let kinds = mismatch_sentence(3, "h1", of(Kind::Bcast, 8, 0), of(Kind::Barrier, 0, 0));
        assert!(
            kinds.starts_with(
                "rank 3 is in MPI_Bcast with 8 bytes where a rank on h1 has called MPI_Barrier;"
            ),
            "{kinds}"
        );
        let operators = mismatch_sentence(3, "h1", of(Kind::Allreduce, 8, 1), of(Kind::Allreduce, 8, 2));
        assert!(operators.contains("has called it with another operator"), "{operators}");
    }
}
