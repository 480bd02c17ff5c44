//! Jobs that run under evenkeel on this machine, seen from outside: which there are, what each rank is in,
//! and which ranks hold up the others.
//!
//! ```text
//! discovery     finds jobs: the processes of this user that map a segment
//! process       what the kernel says about a process
//! threads       whether other threads of a rank may do anything
//! inspection    what the front end of a rank tells: communicators, hosts
//! rank          what a rank is in: its line in the segment, put into words that people know
//! observation   all ranks of a job, looked at twice
//! samples       how a rank spends its time (pure)
//! traffic       whether a message may be under way
//! waiting       which rank needs which, from an observation
//! wait_graph    which ranks wait for ever (pure)
//! findings      the sentences about ranks that hold up others
//! watch         a job that is looked at again and again
//! stacks        the call stacks of these ranks
//! machines      the same for a job on several machines
//! ```
//!
//! Everything here only reads, by `/proc` and `process_vm_readv`, and `stacks` by `ptrace`: the job notices
//! nothing. A deadlock is claimed only if it is proved; where something is unknown, nothing is claimed.
//!
//! May use: [`errors`](crate::errors), [`hosts`](crate::hosts), the segment, the crates of texts and of call
//! stacks. Must never: write to a job, stop it longer than it takes to copy a stack, or take a slow job for
//! one that hangs.

pub mod discovery;
pub mod findings;
pub mod inspection;
pub mod machines;
pub mod observation;
pub mod process;
pub mod rank;
pub mod samples;
pub mod stacks;
pub mod threads;
pub mod traffic;
pub mod wait_graph;
pub mod waiting;
pub mod watch;
