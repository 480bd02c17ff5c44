//! The rules of nodes, by name.

/// The parts of the rules that can be left out, for tests that show what they are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing starts before all hosts are ready.
    AllReady,
    /// Who is cut off from the parent kills.
    KillAlone,
    /// Silence counts as loss.
    Silence,
    /// Nodes say that they live.
    SignsOfLife,
    /// A node that was stopped gives the others that time.
    OwnStop,
    /// What ends is ended below, too.
    Forward,
    /// The first failure is the cause.
    FirstCause,
    /// What may have failed before it is told, too.
    BothCauses,
    /// Who takes its parent for lost tells it so: the parent may live.
    TellParent,
}

/// The rules that hold: all, or all but one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    left_out: Option<Rule>,
}

impl Rules {
    pub(super) fn without(rule: Rule) -> Rules {
        Rules { left_out: Some(rule) }
    }

    pub(super) fn has(self, rule: Rule) -> bool {
        self.left_out != Some(rule)
    }
}
