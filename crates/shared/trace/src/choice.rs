//! The calls whose outcome the program cannot know, and outcomes.

macro_rules! choices {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:literal $mpi:literal $values:ident;)+) => {
        /// A function whose outcome is a choice of the machine's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Choice { $($(#[doc = $doc])+ $name = $number,)+ }

        /// Every one.
        pub const ALL: &[Choice] = &[$(Choice::$name),+];

        impl Choice {
            /// The name of the function.
            pub fn name(self) -> &'static str {
                match self { $(Choice::$name => $mpi,)+ }
            }

            /// What is noted about its outcome.
            pub fn values(self) -> Values {
                match self { $(Choice::$name => Values::$values,)+ }
            }
        }
    };
}

/// What is noted about an outcome beside the fact that something was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Nothing.
    Nothing,
    /// An index + 1, or 0 for `MPI_UNDEFINED`.
    Index,
    /// A number + 1, or 0 for `MPI_UNDEFINED`; then so many indices.
    Indices,
    /// Source and tag.
    Envelope,
}

choices! {
    /// One request is complete.
    Test = 0 "MPI_Test" Nothing;
    /// All requests are.
    Testall = 1 "MPI_Testall" Nothing;
    /// One of several.
    Testany = 2 "MPI_Testany" Index;
    /// Some of several.
    Testsome = 3 "MPI_Testsome" Indices;
    /// One of several, waited for.
    Waitany = 4 "MPI_Waitany" Index;
    /// Some of several, waited for.
    Waitsome = 5 "MPI_Waitsome" Indices;
    /// One request is complete, and stays as it is.
    GetStatus = 6 "MPI_Request_get_status" Nothing;
    /// A message is there.
    Iprobe = 7 "MPI_Iprobe" Envelope;
    /// A message was there, and is taken out.
    Improbe = 8 "MPI_Improbe" Envelope;
    /// Which of several messages came.
    Probe = 9 "MPI_Probe" Envelope;
    /// The same, and it is taken out.
    Mprobe = 10 "MPI_Mprobe" Envelope;
}

/// Rank and tag of a message. [`Envelope::NO_RANK`] stands for `MPI_PROC_NULL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Rank in the communicator of the receive.
    pub source: i32,
    /// Tag of the message.
    pub tag: i32,
}

impl Envelope {
    /// The source that is `MPI_PROC_NULL`.
    pub const NO_RANK: i32 = -1;
}
