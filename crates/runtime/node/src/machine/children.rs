//! How far the children of a node are.

use super::messages::{Action, Down};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildPhase {
    Starting,
    Linked,
    Ready,
    /// It is done, or lost.
    Over,
}

#[derive(Clone, Debug)]
struct Child {
    host: String,
    phase: ChildPhase,
}

/// The children of a node, by number.
#[derive(Clone, Debug)]
pub(super) struct Children {
    all: Vec<Child>,
}

impl Children {
    /// They are being started on these hosts.
    pub(super) fn new(hosts: Vec<String>) -> Children {
        let child = |host| Child { host, phase: ChildPhase::Starting };
        Children { all: hosts.into_iter().map(child).collect() }
    }

    pub(super) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.all.len()
    }

    pub(super) fn host(&self, child: usize) -> &str {
        &self.all[child].host
    }

    /// There is a connection to this child now. Returns whether it was awaited.
    pub(super) fn link(&mut self, child: usize) -> bool {
        let was_starting = self.all[child].phase == ChildPhase::Starting;
        if was_starting {
            self.all[child].phase = ChildPhase::Linked;
        }
        was_starting
    }

    /// The child, and all below it, have said whether they can start.
    pub(super) fn is_prepared(&mut self, child: usize) {
        self.all[child].phase = ChildPhase::Ready;
    }

    /// The child is done, or lost. Returns whether that is new.
    pub(super) fn end(&mut self, child: usize) -> bool {
        std::mem::replace(&mut self.all[child].phase, ChildPhase::Over) != ChildPhase::Over
    }

    /// A child that is being started is not waited for: it ends when no process answers it.
    pub(super) fn abandon_starting(&mut self) {
        for child in self.all.iter_mut().filter(|child| child.phase == ChildPhase::Starting) {
            child.phase = ChildPhase::Over;
        }
    }

    pub(super) fn is_over(&self, child: usize) -> bool {
        self.all[child].phase == ChildPhase::Over
    }

    /// Whether the child can be told something.
    pub(super) fn is_linked(&self, child: usize) -> bool {
        matches!(self.all[child].phase, ChildPhase::Linked | ChildPhase::Ready)
    }

    /// Whether it is known of all whether they can start.
    pub(super) fn are_known(&self) -> bool {
        self.all.iter().all(|child| matches!(child.phase, ChildPhase::Ready | ChildPhase::Over))
    }

    pub(super) fn are_over(&self) -> bool {
        self.numbers().all(|child| self.is_over(child))
    }

    /// Tells all that can be told something.
    pub(super) fn tell(&self, message: &Down, actions: &mut Vec<Action>) {
        let linked = self.numbers().filter(|child| self.is_linked(*child));
        actions.extend(linked.map(|child| Action::ToChild(child, message.clone())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children() -> Children {
        Children::new(vec!["a".into(), "b".into()])
    }

    fn told(children: &Children) -> Vec<usize> {
        let mut actions = Vec::new();
        children.tell(&Down::Alive, &mut actions);
        let child = |action| match action {
            Action::ToChild(child, Down::Alive) => child,
            other => panic!("{other:?}"),
        };
        actions.into_iter().map(child).collect()
    }

    #[test]
    fn those_that_are_linked_are_told() {
        let mut children = children();
        assert!(told(&children).is_empty());
        assert!(children.link(1) && !children.link(1));
        assert_eq!(told(&children), [1]);
        children.link(0);
        children.is_prepared(0);
        assert_eq!(told(&children), [0, 1]);
        assert!(children.end(1) && !children.end(1), "it ends once");
        assert_eq!(told(&children), [0]);
        assert!(!children.link(1), "it stays over");
    }

    #[test]
    fn all_are_known_when_they_have_answered_or_are_lost() {
        let mut children = children();
        children.link(0);
        children.is_prepared(0);
        assert!(!children.are_known());
        children.abandon_starting();
        assert!(children.are_known() && children.is_over(1) && !children.are_over());
        children.end(0);
        assert!(children.are_over());
    }
}
