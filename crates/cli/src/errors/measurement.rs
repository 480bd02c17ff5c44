//! Something cannot be measured.

use thiserror::Error;

/// Why a measurement was not made, or not finished.
#[derive(Debug, Error)]
pub enum MeasurementError {
    /// A core that this process may not use.
    #[error(
        "cannot measure core {core}: this process may use only {usable}. Leave --cores out, or name some of \
         these cores."
    )]
    CoreNotUsable {
        /// The core that was asked for.
        core: usize,
        /// A list of cores.
        usable: String,
    },

    /// Ranks did not do what they should.
    #[error("cannot measure: {why}. Try again; if it happens again, try with fewer --ranks.")]
    Failed {
        /// What happened.
        why: String,
    },

    /// LoP needs more numbers of peers than there are.
    #[error(
        "cannot fit LoP to {ranks} ranks on {cores} cores: a round trip has five parameters, so the fit \
         takes six numbers of peers that leave each rank a core, or six that do not. Ask for more --ranks, \
         or for --model loggp."
    )]
    TooFewRanks {
        /// Ranks that were asked for.
        ranks: usize,
        /// Cores that may be used.
        cores: usize,
    },

    /// The hosts do not form a network.
    #[error(
        "cannot measure a network among --hosts {given}: {why}. Name two different hosts or more, or leave \
         --hosts out to measure this machine's shared memory."
    )]
    Hosts {
        /// As given.
        given: String,
        /// What is wrong with them.
        why: String,
    },

    /// LoP needs more hosts.
    #[error(
        "cannot fit LoP to {hosts} hosts: a round trip has five parameters, so the fit takes six numbers of \
         peers, which takes {needed} hosts. Name more --hosts, or ask for --model loggp."
    )]
    TooFewHosts {
        /// Hosts that were given.
        hosts: usize,
        /// Hosts that are needed.
        needed: usize,
    },

    /// `--remote-shell` cannot be split into words.
    #[error(
        "cannot read --remote-shell `{given}`: it names no program, or a quote is not closed. Write it like \
         `ssh -p 2222`."
    )]
    RemoteShell {
        /// As given.
        given: String,
    },

    /// The process of a host did not start.
    #[error(
        "cannot start a measuring process on host {host}: {why}. It was started with `{line}`. Check that \
         this command works by itself (without input it ends at once) and that evenkeel is installed at the \
         same path on that host; --remote-shell names another remote shell."
    )]
    HostNotStarted {
        /// The host.
        host: String,
        /// What happened.
        why: String,
        /// The command line.
        line: String,
    },

    /// A host was lost during the measurement.
    #[error(
        "cannot go on measuring without host {host}: {why}. Nothing has been written. Check that host and \
         its network, then measure again, or leave the host out of --hosts."
    )]
    HostLost {
        /// The host, or several.
        host: String,
        /// How it was noticed.
        why: String,
    },
}
