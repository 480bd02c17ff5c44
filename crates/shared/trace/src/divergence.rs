//! How a repetition differs from its trace.

/// Why a repetition cannot go on. All calls are counted from 1; failed tests and probes are not counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Divergence {
    /// Another function asks.
    #[error(
        "at call {call} the program calls {found}, where the recorded run called {recorded}{misses}",
        misses = failed_first(*misses)
    )]
    OtherCall {
        /// Number of the call.
        call: u64,
        /// The function now.
        found: &'static str,
        /// The function then.
        recorded: &'static str,
        /// So many recorded tests and probes failed before, and have not been asked for yet.
        misses: u64,
    },
    /// The recorded run had no more outcomes, and ended well.
    #[error("at call {call} the program calls {found}, where the recorded run had no such call any more")]
    MoreCalls {
        /// Number of the call.
        call: u64,
        /// The function.
        found: &'static str,
    },
    /// The recorded run ended before.
    #[error("call {call}, {found}, is where the recorded run ends ({why})")]
    EndOfTrace {
        /// Number of the call.
        call: u64,
        /// The function.
        found: &'static str,
        /// Why there is no more.
        why: &'static str,
    },
    /// A call waits for what was never complete.
    #[error("at call {call} the program waits in {found} for a receive that was {what} in the recorded run")]
    NeverComplete {
        /// Number of the call.
        call: u64,
        /// The function.
        found: &'static str,
        /// `never complete` or `cancelled`.
        what: &'static str,
    },
    /// The program has sent or received something else. At least one of the pairs is there.
    #[error(
        "what the program has {data}{}: {hashes}",
        where_(*from, *to),
        data = data(*sent, *received),
        hashes = hashes(*sent, *received)
    )]
    OtherData {
        /// The first call that may differ.
        from: u64,
        /// The last call that may differ.
        to: u64,
        /// If it has sent something else: the hash now, and then.
        sent: Option<[u32; 2]>,
        /// If it has received something else: the hash now, and then.
        received: Option<[u32; 2]>,
    },
    /// An outcome does not fit the call's arguments.
    #[error("at call {call} the outcome of {found} in the recorded run does not fit its arguments now")]
    OutcomeDoesNotFit {
        /// Number of the call.
        call: u64,
        /// The function.
        found: &'static str,
    },
    /// The program reads a clock more often.
    #[error("after call {calls} the program reads MPI_Wtime once more than the recorded run did")]
    MoreClocks {
        /// Calls that are over.
        calls: u64,
    },
    /// The program ends sooner.
    #[error(
        "the program ends after {found} calls, and the recorded run made {recorded}{left}",
        left = left(*outcomes)
    )]
    FewerCalls {
        /// Calls now.
        found: u64,
        /// Calls then.
        recorded: u64,
        /// Recorded outcomes that have not been asked for.
        outcomes: usize,
    },
}

fn failed_first(misses: u64) -> String {
    if misses == 0 { String::new() } else { format!(", after {misses} more failed tests or probes") }
}

fn where_(from: u64, to: u64) -> String {
    if from == to { format!(" at call {to}") } else { format!(" at one of the calls {from} to {to}") }
}

fn data(sent: Option<[u32; 2]>, received: Option<[u32; 2]>) -> &'static str {
    match (sent, received) {
        (Some(_), Some(_)) => "sent and received differ",
        (_, None) => "sent differs",
        (None, _) => "received differs",
    }
}

fn hashes(sent: Option<[u32; 2]>, received: Option<[u32; 2]>) -> String {
    match (sent, received) {
        (Some([found, recorded]), Some([found_too, recorded_too])) => format!(
            "the hashes are {found:08x} and {found_too:08x}, and were {recorded:08x} and {recorded_too:08x}"
        ),
        (one, other) => {
            let [found, recorded] = one.or(other).unwrap_or_default();
            format!("the hash is {found:08x}, and was {recorded:08x}")
        }
    }
}

fn left(outcomes: usize) -> String {
    if outcomes == 0 { String::new() } else { format!(" ({outcomes} outcomes were not asked for)") }
}
