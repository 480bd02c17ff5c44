//! The one table of options. The command line, the environment and the documentation are all made from it.
//!
//! `evenkeel run --wait yield` sets `EVENKEEL_WAIT=yield` for the program. The engine inside the program
//! reads the environment and nothing else.
//!
//! May use: std. Must never: depend on another crate, or read anything but environment variables.

/// One option: `--name` on the command line, a variable in the environment.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name on the command line, without the dashes.
    pub name: &'static str,
    /// Name of the environment variable.
    pub env: &'static str,
    /// Value when neither the command line nor the environment gives one; empty for none.
    pub default: &'static str,
    /// The values that the option takes, for help texts: `auto|spin|yield|block`, `FILE`, …
    pub values: &'static str,
    /// What the option does, in whole sentences. The first sentence alone is the short help.
    pub doc: &'static str,
}

impl OptionSpec {
    /// The value in force: the environment's, or the default.
    pub fn get(&self) -> String {
        std::env::var(self.env).ok().filter(|v| !v.is_empty()).unwrap_or_else(|| self.default.to_string())
    }

    /// Whether a switch is on: its value is anything but empty, `0`, `no`, `off` or `false`.
    pub fn is_on(&self) -> bool {
        !matches!(self.get().as_str(), "" | "0" | "no" | "off" | "false")
    }
}

/// Variables in which launchers tell a rank its number, before it calls `MPI_Init`.
pub const LAUNCHERS_RANK: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

/// By which `evenkeel run` tells rank 0 how wide the terminal is on which its summary appears: rank 0 itself
/// writes into a pipe of the launcher's.
pub const TERMINAL_COLUMNS: &str = "EVENKEEL_TERMINAL_COLUMNS";

/// Options that `evenkeel run` reads itself: they are not passed on to the ranks.
pub fn is_of_run_alone(env: &str) -> bool {
    let of_supervision = [TIMEOUT.env, ON_HANG.env, DEADLOCK.env, REMOTE_SHELL.env, HOSTS.env];
    let of_sharing = [SHARE.env, QUANTUM.env, SWITCH.env, RATE.env, MEMORY.env];
    of_supervision.contains(&env) || of_sharing.contains(&env)
}

/// How long a node that others wait for may be silent, in milliseconds. With `--nodes auto` no job must end
/// that would have lived with the MPI library: it bears as much as connections over TCP do.
pub fn node_patience_ms() -> u64 {
    const OF_AUTO: u64 = 15 * 60 * 1000;
    given_patience_ms().unwrap_or(if NODES.get() == "auto" { OF_AUTO } else { DEFAULT_NODE_PATIENCE_MS })
}

/// How long agents may take to agree which rank has died first, in milliseconds, before a rank that has seen
/// one die names that.
pub fn death_patience_ms() -> u64 {
    given_patience_ms().unwrap_or(DEFAULT_NODE_PATIENCE_MS)
}

fn given_patience_ms() -> Option<u64> {
    std::env::var(NODE_PATIENCE_MS.env).ok().and_then(|value| value.parse().ok())
}

/// The default of [`NODE_PATIENCE_MS`].
const DEFAULT_NODE_PATIENCE_MS: u64 = 2000;

/// Defines one constant for each option, and [`ALL`]. The doc comment of an option is its help text too.
macro_rules! options {
    ($(
        $(#[doc = $line:literal])+
        $option:ident {
            name: $name:literal, env: $env:literal, default: $default:literal, values: $values:literal
        }
    )+) => {
        $(
            $(#[doc = $line])+
            pub const $option: OptionSpec = OptionSpec {
                name: $name,
                env: $env,
                default: $default,
                values: $values,
                doc: concat!($($line),+).trim_ascii(),
            };
        )+

        /// Every option, in the order in which the documentation lists them.
        pub const ALL: &[OptionSpec] = &[$($option),+];
    };
}

options! {
    /// How a rank waits for other ranks. `spin` polls without ever giving up the core. `yield` offers the
    /// core to other processes after each poll. `block` sleeps until another rank wakes it. `spin-block`
    /// polls for 50 us, about as long as a wake-up takes, and then sleeps (implicit coscheduling). `auto`
    /// chooses while the program runs, from the number of ranks per usable core and from how long recent
    /// waits took.
    WAIT {
        name: "wait", env: "EVENKEEL_WAIT", default: "auto", values: "auto|spin|yield|spin-block|block"
    }

    /// Whether evenkeel places ranks on cores. It does so only if the launcher has not bound the ranks and
    /// if they divide evenly among the cores. `auto` starts each rank on its share of the cores, and the
    /// kernel may move it away when something else needs the core. `bind` keeps each rank on its share; use
    /// it on machines that run nothing else. `none` leaves the placement alone.
    PLACE { name: "place", env: "EVENKEEL_PLACE", default: "auto", values: "auto|bind|none" }

    /// Write the record of the run to this file, as JSON, when the program ends. Rank 0 of MPI_COMM_WORLD
    /// writes it.
    REPORT { name: "report", env: "EVENKEEL_REPORT", default: "", values: "FILE" }

    /// Print no summary at the end of the run. Errors are still printed.
    QUIET { name: "quiet", env: "EVENKEEL_QUIET", default: "0", values: "0|1" }

    /// Load the shim, but leave every call to the MPI library. Use it to find out whether evenkeel causes a
    /// problem.
    OFF { name: "off", env: "EVENKEEL_OFF", default: "0", values: "0|1" }

    /// Keep the record from which the summary and the report are made. `0` saves its cost, which is small.
    RECORD { name: "record", env: "EVENKEEL_RECORD", default: "1", values: "0|1" }

    /// Record what the program could not know, so that `evenkeel replay` can repeat the run: in a folder,
    /// which must be one that all ranks can write. This is a record of choices (which message came first,
    /// which test succeeded), and has nothing to do with `--record`, which counts and times calls.
    TRACE { name: "trace", env: "EVENKEEL_TRACE", default: "", values: "DIRECTORY" }

    /// What a trace holds. `order`: what the program could not know. `times`: also each MPI call of the
    /// program, with its times, and where it was made; `evenkeel export` shows them. `checks`: also what each
    /// call was passed and got, for `evenkeel check`. In a repetition only the times and the checks are
    /// written, into the folder of `--trace`.
    TRACE_LEVEL {
        name: "trace-level", env: "EVENKEEL_TRACE_LEVEL", default: "order", values: "order|times|checks"
    }

    /// After how many calls the trace has a check of all that was sent and received. With `1` a repetition
    /// that differs stops at the very call, and each call takes 9 bytes.
    TRACE_CHECKS { name: "trace-checks", env: "EVENKEEL_TRACE_CHECKS", default: "64", values: "CALLS" }

    /// Repeat the run whose trace is in a folder. `evenkeel replay` sets it.
    REPLAY { name: "replay", env: "EVENKEEL_REPLAY", default: "", values: "DIRECTORY" }

    /// What a repetition does where the program has sent or received other data than in the recorded run.
    /// `stop`: it ends. `tell`: it says so once and goes on, as long as the choices fit. That helps with
    /// programs that send bytes which they have never written, such as the gaps of structures.
    REPLAY_DIFFERENCES {
        name: "replay-differences", env: "EVENKEEL_REPLAY_DIFFERENCES", default: "stop", values: "stop|tell"
    }

    /// Whether ranks may read large messages directly from another rank's memory (process_vm_readv). `auto`
    /// tries it at the start of the run. `off` never does it.
    CMA { name: "cma", env: "EVENKEEL_CMA", default: "auto", values: "auto|off" }

    /// Whether MPI_Barrier may return before all ranks have entered it. `strict`, the default: never.
    /// `auto`: where it pays. A barrier that has returned early is pending: evenkeel completes it before most
    /// system calls, and before the program can see a message that was sent after it. Some programs can still
    /// tell the difference, so use it only where you can check the results. `deferred`: also where it does
    /// not pay, and where the kernel cannot catch system calls. While a program has threads, shared memory,
    /// windows or certain signal handlers, its barriers are strict in any case.
    BARRIER { name: "barrier", env: "EVENKEEL_BARRIER", default: "strict", values: "auto|deferred|strict" }

    /// Who carries point-to-point messages while barriers may be deferred. It matters only if all ranks
    /// share one machine and one thread calls MPI. `own`: evenkeel carries them. A message then need not
    /// wait for pending barriers, and its receiver decides when it may be seen. `host`: the MPI library
    /// carries them. evenkeel completes pending barriers before each send and receive. `auto` is `own`.
    MESSAGES { name: "messages", env: "EVENKEEL_MESSAGES", default: "auto", values: "auto|host|own" }

    /// How a rank waits in calls that the MPI library carries out: receives, sends, waits for requests, and
    /// probes, but also one-sided communication and making communicators. `host`: as the library does. MPICH
    /// keeps the core, and where ranks share cores each wait for another rank then takes milliseconds.
    /// `yield`: the rank gives up its core whenever there is nothing to do. `auto` is `yield` where ranks
    /// share cores. The library carries out the call in any case; MPICH 4 does not yield if it is built
    /// without UCX.
    HOST_WAITS { name: "host-waits", env: "EVENKEEL_HOST_WAITS", default: "auto", values: "auto|host|yield" }

    /// Who copies a large message (192 KiB or more) that evenkeel carries. `receiver`: its receiver reads it
    /// from its sender's memory. `both`: while the sender waits, it copies a part of it into shared memory,
    /// from where the receiver takes it. `auto` times both ways and uses the faster one, for each class of
    /// sizes, if every rank has a core of its own; else it is `receiver`.
    LARGE { name: "large", env: "EVENKEEL_LARGE", default: "auto", values: "auto|both|receiver" }

    /// When the receiver may see a message that was sent after a pending barrier, if evenkeel carries
    /// messages. `strong`: wherever a program could tell, once all ranks have entered the barrier, as with
    /// strict barriers. `weak`: once the receiver has entered it. A program that receives from any source,
    /// tests or probes can then tell the difference. A receive that it posted before the barrier may take a
    /// message from after it.
    ORDERING { name: "ordering", env: "EVENKEEL_ORDERING", default: "strong", values: "strong|weak" }

    /// By how many barriers of a communicator a rank may run ahead of the others. `0` makes all barriers
    /// strict.
    WINDOW { name: "window", env: "EVENKEEL_WINDOW", default: "64", values: "BARRIERS" }

    /// Whether reading a clock completes pending barriers, by MPI_Wtime or by the C library. With `observes`
    /// it does, because the ranks of a machine share its clock, and because programs time their phases.
    /// With `free` it reads the clock and nothing else.
    CLOCK { name: "clock", env: "EVENKEEL_CLOCK", default: "observes", values: "observes|free" }

    /// Whether system calls complete pending barriers. `off` leaves barriers pending whatever the program
    /// does, which gives wrong answers. It is there for tests that show what completing barriers is good
    /// for, such as evenkeel's own.
    GATE { name: "gate", env: "EVENKEEL_GATE", default: "auto", values: "auto|off" }

    /// The table that names a schedule for each barrier. Give a file that `evenkeel tune` has written, or
    /// `none` for the built-in barriers. The default is evenkeel/table.json in $XDG_CONFIG_HOME or
    /// ~/.config, if that file exists. All ranks must find the same table. It applies to strict barriers of
    /// programs that call MPI from one thread.
    TABLE { name: "table", env: "EVENKEEL_TABLE", default: "", values: "FILE" }

    /// Who carries collectives of communicators that span several nodes. `library`: the MPI library.
    /// `agents`: evenkeel, with one small process on each node. With agents no collective waits for a process
    /// that is descheduled on another node. Ranks carry small collectives themselves (`--direct`). Long
    /// messages take longer than in the libraries, on quiet machines with one or two ranks per node. `auto`:
    /// whichever is faster, for each kind and length of blocking collectives, as measured in the running
    /// program; where ranks cannot carry small collectives themselves, and for nonblocking collectives, the
    /// library. The last bits of sums of floating-point numbers then depend on who has carried the call.
    NODES { name: "nodes", env: "EVENKEEL_NODES", default: "library", values: "library|agents|auto" }

    /// Whether ranks carry small collectives between nodes themselves (`--nodes agents`): barriers, and
    /// broadcasts, reductions and allreduces of at most 256 bytes. They travel in sealed datagrams (UDP, on
    /// the port of the agent), and the agents repair what the network loses. `auto`: if barriers are strict,
    /// there are at most 32 nodes, and agents use TLS. `off`: the agents carry all collectives.
    DIRECT { name: "direct", env: "EVENKEEL_DIRECT", default: "auto", values: "auto|off" }

    /// What carries the agents' messages between nodes (`--nodes agents`). `tls`: TCP, encrypted, and only
    /// between agents that know a secret that is made for the job. `ucx`: the UCX library over hardware for
    /// RDMA, which encrypts nothing; UCX uses TCP only if UCX_TLS names it. `auto` is `ucx` if all nodes have
    /// such hardware and UCX, and otherwise `tls`.
    FABRIC { name: "fabric", env: "EVENKEEL_FABRIC", default: "auto", values: "auto|tls|ucx" }

    /// The network over which agents reach each other by `tls`. `auto` finds one that the nodes have in
    /// common. Otherwise name an interface (`eth0`) or a network (`10.1.0.0/16`). Agents listen on their
    /// address in that network. With `any` they listen on all addresses.
    NETWORK {
        name: "network", env: "EVENKEEL_NETWORK", default: "auto", values: "auto|any|INTERFACE|NETWORK"
    }

    /// The ports on which agents may listen for `tls`, for firewalls (`10000-10100`). Each agent takes one.
    /// Without this option the kernel chooses a free one.
    PORTS { name: "ports", env: "EVENKEEL_PORTS", default: "", values: "FIRST-LAST" }

    /// How long a node that others wait for may stay silent before it counts as lost. evenkeel then ends the
    /// job and names the node. Without this option it is 15 minutes with `--nodes auto`.
    NODE_PATIENCE_MS {
        name: "node-patience", env: "EVENKEEL_NODE_PATIENCE_MS", default: "2000", values: "MILLISECONDS"
    }

    /// File, on each node, to which the node's agent appends one line of JSON when it ends. The line has the
    /// messages and bytes that the agent sent to other nodes and received from them, and the processor time
    /// that it used once the job had been set up.
    AGENT_COUNTS { name: "agent-counts", env: "EVENKEEL_AGENT_COUNTS", default: "", values: "FILE" }

    /// End the job if it has not ended by itself after this time, with exit code 124. Give a number of
    /// seconds, or one with a unit: `90`, `500ms`, `60s`, `1.5m`, `2h`. `evenkeel run` then sends SIGTERM to
    /// the launcher, and after 5 s SIGKILL to all that is left of the job. A job that ends in time is not
    /// touched. It is an option of `evenkeel run` alone.
    TIMEOUT { name: "timeout", env: "EVENKEEL_TIMEOUT", default: "", values: "DURATION" }

    /// What is said of a job that is in a deadlock, or is ended because its time is over (`--timeout`).
    /// `where`: print on standard error what `evenkeel where --stacks` says of it, which is where each rank
    /// is, and which functions those ranks are in that hold up others. `end`: only that it is so.
    ON_HANG { name: "on-hang", env: "EVENKEEL_ON_HANG", default: "where", values: "where|end" }

    /// What happens when some ranks of the job wait for each other and it is proved that they can never go
    /// on. `evenkeel run` looks for that twice a second, or more seldom so that it takes less than 1% of a
    /// core. `report`: say so once on standard error. `end`: say so and end the job, with exit code 124.
    /// `off`: do not look. Empty: `report` if there is a `--timeout`, else `off`. It is an option of
    /// `evenkeel run` alone.
    DEADLOCK { name: "deadlock", env: "EVENKEEL_DEADLOCK", default: "", values: "report|end|off" }

    /// How `--hosts` reaches other machines, and how `--timeout` and `--deadlock` look at ranks there. A
    /// command such as `ssh -p 2222`, behind which the machine's name and the words of a command come; or one
    /// with `%h` in place of the name, such as `kubectl exec -i %h --`. It must pass standard input on, and
    /// not ask for a password. Empty: what the launcher was told to use, in an allocation of Slurm's `srun`,
    /// else `ssh`. It is an option of `evenkeel run`, `evenkeel exec` and `evenkeel where`.
    REMOTE_SHELL { name: "remote-shell", env: "EVENKEEL_REMOTE_SHELL", default: "", values: "COMMAND" }

    /// With `--launcher evenkeel`: the hosts on which ranks are started, in blocks. A number behind a name
    /// says how many ranks that host takes (`a:4,b:4`). Without numbers the ranks are spread evenly. Under
    /// other launchers: the machines on which `--timeout` and `--deadlock` look for the ranks if none is on
    /// this one, as where a login node starts a job. Empty: those that the launcher is given
    /// (`--launcher-args`), else those of the allocation of Slurm, PBS, LSF or Grid Engine that this is in.
    /// It is an option of `evenkeel run`; `evenkeel where` and `evenkeel exec` have one of the same name.
    HOSTS { name: "hosts", env: "EVENKEEL_HOSTS", default: "", values: "HOST,…" }

    /// Take turns with the other jobs of this user on this machine that were started so. All ranks of a job
    /// run in the same slots, and stand still while others have their turn. Use it where ranks that wait
    /// keep their cores, which two jobs at once would waste. A job that is alone is not switched. It is an
    /// option of `evenkeel run` alone.
    SHARE { name: "share", env: "EVENKEEL_SHARE", default: "0", values: "0|1" }

    /// How long a slot is (`--share`). Of the jobs that take turns the longest counts. A switcher that is
    /// often too late for it makes it longer. It is an option of `evenkeel run` alone.
    QUANTUM { name: "quantum", env: "EVENKEEL_QUANTUM", default: "10ms", values: "DURATION" }

    /// How ranks are kept from running outside of their turns (`--share`). `freeze`: by `cgroup.freeze`,
    /// where there is a control group of version 2 that this user may divide. `stop`: by SIGSTOP and
    /// SIGCONT. `demote`: by SCHED_IDLE, in slots of 100 ms or more; programs cannot notice it, but it acts
    /// late. `auto`: `freeze` where it works, else `stop`. It is an option of `evenkeel run` alone.
    SWITCH { name: "switch", env: "EVENKEEL_SWITCH", default: "auto", values: "auto|freeze|stop|demote" }

    /// The job's share of the time (`--share`), 1 to 100: a job with 3 has three slots where one with 1 has
    /// one. It is an option of `evenkeel run` alone.
    RATE { name: "rate", env: "EVENKEEL_RATE", default: "1", values: "RATE" }

    /// The memory that all ranks of the job need together (`--share`), in MiB. The job waits until it fits
    /// beside the jobs that it takes turns with, and those that come later wait behind it. `0`: it is not
    /// counted. It is an option of `evenkeel run` alone.
    MEMORY { name: "memory", env: "EVENKEEL_MEMORY", default: "0", values: "MEBIBYTES" }

    /// How long a rank waits before it checks whether the ranks that it waits for are still alive.
    PATIENCE_MS { name: "patience", env: "EVENKEEL_PATIENCE_MS", default: "200", values: "MILLISECONDS" }
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

    #[test]
    fn help_texts_are_sentences_without_line_breaks_or_double_spaces() {
        for o in ALL {
            assert!(o.doc.ends_with('.') && o.doc.starts_with(char::is_uppercase), "{}: {}", o.name, o.doc);
            assert!(!o.doc.contains("  ") && !o.doc.contains('\n'), "{}: {}", o.name, o.doc);
        }
    }
}
