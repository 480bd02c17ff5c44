//! The one table of options. The command line, the environment, the docs and the report all read it.
//!
//! `evenkeel run --wait yield` sets `EVENKEEL_WAIT=yield` for the program; the engine inside the program
//! reads the environment and nothing else. This crate may use only std and must never touch another box.

/// One option: its name on the command line is `--name`, in the environment `env`.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    pub name: &'static str,
    pub env: &'static str,
    pub default: &'static str,
    /// What may stand there, for help texts: `auto|spin|yield|block`, `FILE`, …
    pub values: &'static str,
    pub doc: &'static str,
}

pub const WAIT: OptionSpec = OptionSpec {
    name: "wait",
    env: "EVENKEEL_WAIT",
    default: "auto",
    values: "auto|spin|yield|block",
    doc: "How a rank waits: spin (burn the core), yield (offer it at every look), block (sleep until woken), \
          or auto: chosen while running from ranks per usable core and from how long the last waits took.",
};
pub const PLACE: OptionSpec = OptionSpec {
    name: "place",
    env: "EVENKEEL_PLACE",
    default: "auto",
    values: "auto|bind|none",
    doc: "Whether ranks are placed on cores where the launcher has not bound them and the cores divide evenly: auto starts \
          each rank on its share and lets the system move it away when something else needs the core; bind keeps it \
          there, for machines that run nothing else; none leaves ranks alone.",
};
pub const REPORT: OptionSpec = OptionSpec {
    name: "report",
    env: "EVENKEEL_REPORT",
    default: "",
    values: "FILE",
    doc: "Write the record of the run to this file as JSON when the program ends (rank 0 of MPI_COMM_WORLD writes it).",
};
pub const QUIET: OptionSpec = OptionSpec {
    name: "quiet",
    env: "EVENKEEL_QUIET",
    default: "0",
    values: "0|1",
    doc: "Print no summary at the end of the run. Errors are still printed.",
};
pub const OFF: OptionSpec = OptionSpec {
    name: "off",
    env: "EVENKEEL_OFF",
    default: "0",
    values: "0|1",
    doc: "Load the shim but leave every call to the host library: to find out whether evenkeel is the cause of something.",
};
pub const RECORD: OptionSpec = OptionSpec {
    name: "record",
    env: "EVENKEEL_RECORD",
    default: "1",
    values: "0|1",
    doc: "Keep the record that summary and report are made of. 0 saves its (small) cost.",
};
pub const CMA: OptionSpec = OptionSpec {
    name: "cma",
    env: "EVENKEEL_CMA",
    default: "auto",
    values: "auto|off",
    doc: "Whether large messages may be read from a peer's memory directly (process_vm_readv): auto tries it at start, off never does.",
};
pub const TABLE: OptionSpec = OptionSpec {
    name: "table",
    env: "EVENKEEL_TABLE",
    default: "",
    values: "FILE",
    doc: "By which schedules barriers are run: a table that `evenkeel tune` has written, or `none` for the built-in way. Without it, \
          evenkeel/table.json in $XDG_CONFIG_HOME or ~/.config, if it is there. All ranks must find the same; a table goes \
          for strict barriers of programs with one thread in MPI.",
};
pub const NODES: OptionSpec = OptionSpec {
    name: "nodes",
    env: "EVENKEEL_NODES",
    default: "library",
    values: "library|agents",
    doc: "Who carries collectives of communicators that span several nodes. library: the MPI library; agents: evenkeel, by one small process \
          on each node, if UCX is there on all of them: then no collective waits for a process that is descheduled elsewhere. New, and on \
          quiet machines with one or two ranks on a node slower than the libraries, hence not the default.",
};
pub const NODE_PATIENCE_MS: OptionSpec = OptionSpec {
    name: "node-patience",
    env: "EVENKEEL_NODE_PATIENCE_MS",
    default: "2000",
    values: "MILLISECONDS",
    doc: "For how long a node that others wait for may give no sign of life before it counts as lost and the job is ended, with its name.",
};
pub const AGENT_COUNTS: OptionSpec = OptionSpec {
    name: "agent-counts",
    env: "EVENKEEL_AGENT_COUNTS",
    default: "",
    values: "FILE",
    doc: "File, of each node, to which its agent adds a line of JSON at its end: messages and bytes that it has sent to other nodes and taken in, and the processor \
          time that it has used since the job had been set up.",
};
pub const PATIENCE_MS: OptionSpec = OptionSpec {
    name: "patience",
    env: "EVENKEEL_PATIENCE_MS",
    default: "200",
    values: "MILLISECONDS",
    doc: "How long a rank waits before it looks whether the ranks it waits for are still alive.",
};

pub const BARRIER: OptionSpec = OptionSpec {
    name: "barrier",
    env: "EVENKEEL_BARRIER",
    default: "strict",
    values: "auto|deferred|strict",
    doc: "Whether MPI_Barrier may return before all ranks have entered it. strict, the default: never. auto: where it pays. \
          Barriers left pending are completed before the next message is sent and before most system calls; some programs \
          can still tell, so use it only where you can check the results. deferred: also where it does not pay, and where the \
          kernel cannot catch system calls. While a program has threads, shared memory, windows or certain signal handlers, \
          its barriers are strict in any case.",
};
pub const MESSAGES: OptionSpec = OptionSpec {
    name: "messages",
    env: "EVENKEEL_MESSAGES",
    default: "auto",
    values: "auto|host|own",
    doc: "Who carries point-to-point messages while barriers may be deferred, all ranks share one machine and one thread calls \
          MPI: own: evenkeel, so that a message need not wait for pending barriers; its receiver decides when it may be seen; \
          host: the MPI library, to which messages go when pending barriers are complete. auto: own.",
};
pub const ORDERING: OptionSpec = OptionSpec {
    name: "ordering",
    env: "EVENKEEL_ORDERING",
    default: "strong",
    values: "strong|weak",
    doc: "When a message that was sent after a pending barrier may be seen, where evenkeel carries messages. strong: when all ranks have \
          entered the barrier, wherever a program could tell: as with barriers that wait. weak: when its receiver has entered it. A \
          program that receives from any source, tests or probes can tell then: its receive from before the barrier may take a message \
          from after it.",
};
pub const WINDOW: OptionSpec = OptionSpec {
    name: "window",
    env: "EVENKEEL_WINDOW",
    default: "64",
    values: "BARRIERS",
    doc: "By how many barriers of a communicator a rank may run ahead of the others; 0 makes all barriers strict.",
};
pub const CLOCK: OptionSpec = OptionSpec {
    name: "clock",
    env: "EVENKEEL_CLOCK",
    default: "observes",
    values: "observes|free",
    doc: "Whether MPI_Wtime completes pending barriers (people time phases with it) or reads the clock and nothing else.",
};

pub const GATE: OptionSpec = OptionSpec {
    name: "gate",
    env: "EVENKEEL_GATE",
    default: "auto",
    values: "auto|off",
    doc: "off leaves pending barriers pending whatever the program does: wrong answers, for whoever wants to see what completing \
          them is good for (evenkeel's own tests do).",
};

/// Every option, in the order in which the docs list them.
pub const ALL: &[OptionSpec] = &[
    WAIT,
    PLACE,
    REPORT,
    QUIET,
    OFF,
    RECORD,
    CMA,
    BARRIER,
    MESSAGES,
    ORDERING,
    WINDOW,
    CLOCK,
    GATE,
    TABLE,
    NODES,
    NODE_PATIENCE_MS,
    AGENT_COUNTS,
    PATIENCE_MS,
];

impl OptionSpec {
    /// The value in force: the environment's, or the default.
    pub fn get(&self) -> String {
        std::env::var(self.env).ok().filter(|v| !v.is_empty()).unwrap_or_else(|| self.default.to_string())
    }

    /// A switch's value: on unless empty, `0`, `no`, `off` or `false`.
    pub fn is_on(&self) -> bool {
        !matches!(self.get().as_str(), "" | "0" | "no" | "off" | "false")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variables_agree() {
        for o in ALL {
            assert!(o.env.starts_with("EVENKEEL_"), "{}", o.env);
            assert!(o.env.to_lowercase().contains(&o.name.replace('-', "_")), "{} / {}", o.name, o.env);
            assert!(!o.doc.is_empty() && !o.values.is_empty());
        }
    }
}
