//! What is found.

use std::fmt;

/// How sure and how bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The run has violated the standard.
    Error,
    /// The run has done what the standard calls unsafe.
    Warning,
    /// It is allowed, and may still surprise.
    Note,
}

impl Severity {
    /// All, the worst first.
    pub const ALL: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule: one file of [`rules`](crate::rules) each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Ranks that wait for each other for ever.
    Deadlock,
    /// Members of a communicator make the same collectives in the same order, with arguments that fit.
    Collective,
    /// A message fits its receive.
    Message,
    /// Each message is received, and each receive gets one.
    Unmatched,
    /// Buffers of operations that are under way do not overlap.
    Overlap,
    /// A send buffer stays as it is until the send is complete.
    Modified,
    /// Handles are used from when they are made until they are freed.
    Handle,
    /// Requests are completed, and what was made is freed, before `MPI_Finalize`.
    Leak,
    /// The program does not rely on sends that are buffered.
    Buffering,
    /// A receive from any source could have taken another message.
    Race,
}

impl Rule {
    /// All.
    pub const ALL: [Rule; 10] = [
        Rule::Deadlock,
        Rule::Collective,
        Rule::Message,
        Rule::Unmatched,
        Rule::Overlap,
        Rule::Modified,
        Rule::Handle,
        Rule::Leak,
        Rule::Buffering,
        Rule::Race,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Deadlock => "deadlock",
            Rule::Collective => "collective",
            Rule::Message => "message",
            Rule::Unmatched => "unmatched",
            Rule::Overlap => "overlap",
            Rule::Modified => "modified",
            Rule::Handle => "handle",
            Rule::Leak => "leak",
            Rule::Buffering => "buffering",
            Rule::Race => "race",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A call of a rank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The rank.
    pub rank: u32,
    /// Which of its calls, as the times number them; `None`: the rank has not left it.
    pub call: Option<u32>,
    /// `MPI_Send`.
    pub function: String,
    /// Where it is made: which of the rank's sites.
    pub site: u32,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// By which rule.
    pub rule: Rule,
    /// How bad it is.
    pub severity: Severity,
    /// Where; the first place is the one to look at first.
    pub places: Vec<Place>,
    /// One sentence, or several. `{0}`, `{1}` stand for the places.
    pub sentence: String,
    /// The clause of the standard.
    pub clause: &'static str,
    /// How many more there are like it.
    pub more: u64,
}
