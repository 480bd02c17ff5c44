//! What nodes tell each other, and what one node is told and is to do.

use serde::{Deserialize, Serialize};

/// A time in milliseconds, from any moment on.
pub type Millis = u64;

/// Keys and values that ranks give each other.
pub type Values = Vec<(String, String)>;

/// Something that went wrong on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The exit code of the job if this is the cause of its end.
    pub code: u8,
    /// A sentence that names the host.
    pub text: String,
    /// Whether the other processes may go on for a while: they may end by themselves.
    pub is_patient: bool,
    /// Whether it ends nothing (`--keep-going`).
    pub is_only_noted: bool,
    /// Whether a process has ended because it noticed that another one had failed, which is the cause then.
    pub is_consequence: bool,
    /// Whether it is a process's own, and its host had not been told by then that the job ends. Of two such
    /// failures the one that the client hears of later may have been the first.
    pub is_before_end: bool,
}

/// The exit code of a job that has lost a host.
pub const EXIT_LOST: u8 = 1;

impl Failure {
    /// A host is lost.
    pub(super) fn lost(text: String) -> Failure {
        Failure {
            code: EXIT_LOST,
            text,
            is_patient: false,
            is_only_noted: false,
            is_consequence: false,
            is_before_end: false,
        }
    }
}

/// What goes from a parent to a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Down {
    /// The parent lives.
    Alive,
    /// All hosts are ready: start.
    Start,
    /// Keys and values of all ranks at a barrier.
    Values(Values),
    /// A signal of the user's for all processes.
    Signal(i32),
    /// The job ends; processes may have time to end by themselves first.
    End {
        /// Whether they have.
        is_patient: bool,
    },
    /// Kill everything.
    Kill,
    /// The client is stopped (Ctrl-Z): its silence says nothing.
    Pause,
    /// It goes on.
    Resume,
}

/// What goes from a child to its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Up {
    /// The child lives.
    Alive,
    /// The child's host and all below it could start, but for those that refuse, with a sentence each.
    Ready(Vec<String>),
    /// What the ranks below have put before a barrier; all of them are in it.
    Values(Values),
    /// Something went wrong below.
    Failed(Failure),
    /// Nothing runs below any more, and nothing will.
    Done,
}

/// What happens on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Local {
    /// Whether the job could start here.
    Checked(Result<(), String>),
    /// All ranks here are in a barrier, and have put these.
    Values(Values),
    /// A process has failed.
    Failed(Failure),
    /// All processes here have ended.
    Ended,
}

/// What a node is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// By its parent.
    Down(Down),
    /// By a child.
    Up(usize, Up),
    /// By what runs here.
    Local(Local),
    /// The parent has sent something else, such as input: it lives.
    ParentHeard,
    /// So has this child.
    Heard(usize),
    /// There is a connection to this child now.
    Linked(usize),
    /// This child could not be started, or is lost; the sentence says why.
    Lost(usize, String),
    /// The connection to the parent is lost.
    ParentLost,
    /// The user wants a signal to reach the job. Only the client is told so.
    Signal(i32),
    /// The client is about to be stopped, or goes on.
    Pause(bool),
    /// Time has passed.
    Tick,
}

/// What a node is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send to the parent.
    ToParent(Up),
    /// Send to a child.
    ToChild(usize, Down),
    /// Start the processes here.
    Run,
    /// Give the ranks here these, and let them leave the barrier.
    Release(Values),
    /// Send the processes here a signal of the user's.
    Signal(i32),
    /// End them.
    End {
        /// Whether they have time to end by themselves first.
        is_patient: bool,
    },
    /// Kill them.
    Kill,
    /// Nothing is left to do: this process may end.
    Leave,
}
