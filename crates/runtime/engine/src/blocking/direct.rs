//! Direct collectives as a rank carries them out: it says what it has to say, and waits for the others.
//!
//! Of the threads of a node that wait for other nodes one is the reader ([`turn`](super::turn)). What is
//! about a communicator that the reader does not have it leaves for those that have it. Ranks that wait for
//! ranks of their own node sleep at the communicator's eventcount.

use super::awaited::Awaited;
use super::turn::Turn;
use crate::collective::call::{Call, CollectiveKind};
use crate::comm::part::Revoked;
use crate::communicator::spanning::SpanningCommunicator;
use crate::direct::collective::{DirectCollective, Mismatch, Progress};
use crate::direct::description::Description;
use crate::direct::part::DirectPart;
use crate::job::agent_commands::AgentCommand;
use crate::job::direct_link::DirectLink;
use crate::job::node::Node;
use crate::process::Process;
use crate::reduction::kernels::builtin;
use crate::spanning::choice::Times;
use crate::wait::chores::Chores;
use crate::wait::settings::{WAKE_UP_NS, WaitPolicy, WaitSettings};
use evenkeel_datagram::Frame;
use evenkeel_segment::waiters::{Kind, Kinds};
use std::sync::PoisonError;

/// After this long a rank asks its agent whether something has been lost.
const FIRST_QUESTION_NS: u64 = 5_000_000;
/// The same where it is known that something may have been replaced before this rank came.
const EARLY_QUESTION_NS: u64 = 300_000;
/// How long the agents' answer takes, about.
const ANSWER_NS: u64 = 1_000_000;
/// The shortest sleep for the sake of a question.
const SHORTEST_SLEEP_NS: u64 = 100_000;
/// After this long, and again and again, a rank that is not the reader reads, in case the reader does not.
const IN_VAIN_NS: u64 = 4_000_000;
/// The longest time between two questions.
const RAREST_QUESTION_NS: u64 = 100_000_000;

/// For how long a rank looks on at most that does not give its core to others when it yields.
const UNYIELDING_NS: u64 = 100_000;

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
        let clock = spanning.service.part.shared.node.clock();
        let began = clock.now();
        // SAFETY: the caller's promise.
        let waited_ns = unsafe { self.carry_directly(spanning, direct, call, description)? };
        spanning.count(call, clock.ns_since(began), waited_ns);
        Ok(())
    }

    /// Adds up the members' times of a trial. That is no call of the program's, and is not counted.
    #[cold]
    pub(crate) fn add_up(&self, spanning: &SpanningCommunicator, times: Times) -> Result<Times, Revoked> {
        let mut sums: Times = [0; 2];
        let call = Call {
            bytes: size_of::<Times>(),
            send: times.as_ptr().cast(),
            recv: sums.as_mut_ptr().cast(),
            combine: builtin("sum", 'u', size_of::<u64>()),
            elem_bytes: size_of::<u64>(),
            ..Call::empty(CollectiveKind::Allreduce)
        };
        let (direct, description) = spanning.direct_for(&call).expect("times are added up by ranks");
        // SAFETY: both buffers are there until the call is complete.
        unsafe { self.carry_directly(spanning, direct, &call, description)? };
        Ok(sums)
    }

    /// The same without counting. Returns how long the rank has waited, in nanoseconds.
    ///
    /// # Safety
    /// As for [`Process::run_direct`].
    unsafe fn carry_directly(
        &self,
        spanning: &SpanningCommunicator,
        direct: &DirectPart,
        call: &Call,
        description: Description,
    ) -> Result<u64, Revoked> {
        let node = spanning.service.part.shared.node;
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
        Ok(waited_ns)
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
        let mut turn = Turn::new(node, link, spanning.id());
        let began = node.clock().now();
        let _in_call = Awaited::spanning(call).publish(part, began);
        let mut chores = Chores::new(node.patience_ns, self.library.activity());
        let look_on_ns = look_on_ns(&link.waiting, spanning.expected_ns(call.kind()));
        let (mut has_slept, mut looks, mut waited_ns) = (false, 0u32, 0);
        let (mut next_question_ns, mut question_step_ns) = (FIRST_QUESTION_NS, FIRST_QUESTION_NS);
        let mut has_just_asked = false;
        let mut next_look_in_vain_ns = IN_VAIN_NS;
        // What was left for this rank has been replaced before it came, as if it had been lost.
        let mut lacks_some = false;
        loop {
            if self.requests.pending() > 0 {
                self.requests.progress();
            }
            if progress == Progress::AwaitsNodes {
                let (reads, counted_in_vain) = (turn.reads(), turn.has_counted_in_vain());
                // The reader may have been stopped. What has come is there for any rank that takes it.
                let may_be_alone = counted_in_vain || !reads && waited_ns >= next_look_in_vain_ns;
                if may_be_alone {
                    next_look_in_vain_ns = waited_ns + IN_VAIN_NS;
                }
                let has_come = (reads || may_be_alone) && self.receive_datagrams(spanning, &turn);
                if has_come && may_be_alone {
                    turn.take_over();
                }
                lacks_some |= self.take_datagrams(spanning, &turn);
            }
            progress = operation.poll();
            if progress == Progress::Done {
                break;
            }
            if part.is_revoked() {
                return Err(Revoked);
            }
            if progress == Progress::AwaitsRanks {
                turn.end();
            }
            looks += 1;
            waited_ns = node.clock().ns_since(began);
            if std::mem::take(&mut lacks_some) {
                next_question_ns = next_question_ns.min(waited_ns + EARLY_QUESTION_NS);
            }
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
                    Progress::AwaitsNodes => {
                        next_question_ns.saturating_sub(waited_ns).max(SHORTEST_SLEEP_NS)
                    }
                    _ => u64::MAX,
                };
                let nap_ns = chores.nap_ns(waited_ns, self.requests.pending() > 0);
                let nap_ns = nap_ns.min(answered_ns).min(asks_in_ns);
                if progress == Progress::AwaitsRanks {
                    let happened = || {
                        progress = operation.poll();
                        progress != Progress::AwaitsRanks
                    };
                    shared.board.sleep_unless(shared.board.fencing, nap_ns, happened);
                } else {
                    lacks_some |= self.sleep_for_nodes(operation, &mut turn, &mut progress, nap_ns);
                }
            }
            if looks > 32 || has_slept {
                waited_ns = node.clock().ns_since(began);
                self.do_chores(part, call.kind(), &mut chores, waited_ns)?;
                if progress == Progress::AwaitsNodes && waited_ns >= next_question_ns {
                    if waited_ns >= FIRST_QUESTION_NS {
                        question_step_ns = (question_step_ns * 2).min(RAREST_QUESTION_NS);
                    }
                    next_question_ns = waited_ns + question_step_ns;
                    operation.ask_agent();
                    has_just_asked = true;
                }
            }
        }
        turn.end();
        if node.recording {
            let now = node.clock().now();
            node.timeline.add(node.clock().ns_between(node.began, now), node.clock().ns_between(began, now));
            node.waited.add(began, now);
        }
        Ok(())
    }

    /// Sleeps until other nodes may have said what is waited for, for `nap_ns` at most. Whether something was
    /// left for this rank that may have been replaced.
    fn sleep_for_nodes(
        &self,
        operation: &mut Operation<'_>,
        turn: &mut Turn<'_>,
        progress: &mut Progress,
        nap_ns: u64,
    ) -> bool {
        let spanning = operation.spanning;
        let mut lacks_some = false;
        let mut look = |operation: &mut Operation<'_>, turn: &Turn<'_>| {
            lacks_some |= self.take_datagrams(spanning, turn);
            *progress = operation.poll();
            *progress != Progress::AwaitsNodes || lacks_some || spanning.service.part.is_revoked()
        };
        turn.sleep(nap_ns, |turn| look(operation, turn));
        lacks_some
    }

    /// Takes what has come for this node, and wakes ranks here that sleep for it. Whether anything has come.
    fn receive_datagrams(&self, spanning: &SpanningCommunicator, turn: &Turn<'_>) -> bool {
        let mut come = Kinds::NONE;
        turn.link.receive(|from, frame| {
            let Some(communicator) = frame.communicator() else { return };
            if !self.accept(spanning, from, frame) {
                turn.link.leave(from, communicator, frame);
            }
            come = come.and(Kind::of(communicator));
        });
        if come.are_none() {
            return false;
        }
        turn.link.wake(&turn.node.segment, come);
        true
    }

    /// Takes what other ranks of this node have read for this process. Whether some of it may be lost.
    fn take_datagrams(&self, spanning: &SpanningCommunicator, turn: &Turn<'_>) -> bool {
        turn.link.take_left(turn.kind, |from, frame| {
            // What is about a communicator that this process does not have yet is looked for when it has it.
            self.accept(spanning, from, frame);
        })
    }

    /// Writes down what a node says about `spanning` or another communicator of this process. False if this
    /// process has no such communicator.
    fn accept(&self, spanning: &SpanningCommunicator, from: u32, frame: &Frame<'_>) -> bool {
        let Some(communicator) = frame.communicator() else { return true };
        let accept = |spanning: &SpanningCommunicator| {
            spanning.direct().into_iter().for_each(|direct| direct.accept(from, frame));
        };
        if spanning.id() == communicator {
            accept(spanning);
            return true;
        }
        self.registry.with_spanning(communicator, accept).is_some()
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
    use CollectiveKind as Kind;

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
