//! Signs of life: when the neighbours were last heard of, and when this node has to be.

use super::messages::Millis;
use super::rules::{Rule, Rules};

/// How often within the patience a node says that it lives.
const SIGNS_OF_LIFE: Millis = 10;

/// When a node's parent and children were last heard of.
#[derive(Clone, Debug)]
pub(super) struct Liveness {
    patience: Millis,
    parent_heard: Millis,
    children_heard: Vec<Millis>,
    /// The client is stopped: the parent's silence says nothing.
    is_paused: bool,
    said_alive: Millis,
    looked: Millis,
}

impl Liveness {
    /// Of a node that has just heard of all.
    pub(super) fn new(patience: Millis, children: usize, now: Millis) -> Liveness {
        Liveness {
            patience: patience.max(SIGNS_OF_LIFE),
            parent_heard: now,
            children_heard: vec![now; children],
            is_paused: false,
            said_alive: now,
            looked: now,
        }
    }

    pub(super) fn patience(&self) -> Millis {
        self.patience
    }

    /// How often the node is to look, at least, and says that it lives.
    pub(super) fn interval(&self) -> Millis {
        self.patience / SIGNS_OF_LIFE
    }

    /// To be called whenever anything happens. If nothing did for long, this node was stopped, or had no
    /// core: it could not hear the others meanwhile.
    pub(super) fn look(&mut self, now: Millis, rules: Rules) {
        let gap = now.saturating_sub(self.looked);
        if gap > 2 * self.interval() && rules.has(Rule::OwnStop) {
            self.parent_heard += gap;
            self.children_heard.iter_mut().for_each(|heard| *heard += gap);
        }
        self.looked = now;
    }

    pub(super) fn hear_parent(&mut self, now: Millis) {
        self.parent_heard = now;
    }

    pub(super) fn hear_child(&mut self, child: usize, now: Millis) {
        self.children_heard[child] = now;
    }

    /// The client is stopped, or goes on.
    pub(super) fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Whether the node is to say now that it lives. It does so then.
    pub(super) fn speaks(&mut self, now: Millis) -> bool {
        let is_due = now >= self.said_alive + self.interval();
        if is_due {
            self.said_alive = now;
        }
        is_due
    }

    /// Whether the parent has been silent for so long that it is lost.
    pub(super) fn is_parent_silent(&self, now: Millis) -> bool {
        !self.is_paused && self.is_too_long(self.parent_heard, now)
    }

    /// Whether a child has.
    pub(super) fn is_child_silent(&self, child: usize, now: Millis) -> bool {
        self.is_too_long(self.children_heard[child], now)
    }

    fn is_too_long(&self, heard: Millis, now: Millis) -> bool {
        // The last sign of life may have come a whole interval before the silence began.
        now > heard + self.patience + self.interval()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Millis = 1000;
    const LONGEST: Millis = 1100;

    /// Looks ten times within the patience, up to a time.
    fn look_until(liveness: &mut Liveness, until: Millis, rules: Rules) {
        (liveness.looked..=until).step_by(100).for_each(|now| liveness.look(now, rules));
    }

    #[test]
    fn who_is_silent_for_the_patience_and_an_interval_is_lost() {
        let mut liveness = Liveness::new(PATIENCE, 2, 0);
        look_until(&mut liveness, LONGEST, Rules::default());
        assert!(!liveness.is_parent_silent(LONGEST) && liveness.is_parent_silent(LONGEST + 1));
        liveness.hear_child(1, 500);
        assert!(liveness.is_child_silent(0, LONGEST + 1) && !liveness.is_child_silent(1, LONGEST + 1));
        liveness.hear_parent(LONGEST);
        assert!(!liveness.is_parent_silent(LONGEST + 1));
    }

    #[test]
    fn the_time_in_which_this_node_was_stopped_does_not_count() {
        for (rules, is_lost) in [(Rules::default(), false), (Rules::without(Rule::OwnStop), true)] {
            let mut liveness = Liveness::new(PATIENCE, 1, 0);
            liveness.look(10 * PATIENCE, rules);
            assert_eq!(liveness.is_parent_silent(10 * PATIENCE), is_lost);
            assert_eq!(liveness.is_child_silent(0, 10 * PATIENCE), is_lost);
        }
    }

    #[test]
    fn a_paused_parent_is_not_lost_and_children_may_be() {
        let mut liveness = Liveness::new(PATIENCE, 1, 0);
        liveness.pause(true);
        assert!(!liveness.is_parent_silent(10 * PATIENCE) && liveness.is_child_silent(0, 10 * PATIENCE));
        liveness.pause(false);
        assert!(liveness.is_parent_silent(10 * PATIENCE));
    }

    #[test]
    fn a_node_speaks_ten_times_within_the_patience() {
        let mut liveness = Liveness::new(PATIENCE, 0, 0);
        let spoken = (1..=PATIENCE).filter(|now| liveness.speaks(*now)).count();
        assert_eq!(spoken as Millis, SIGNS_OF_LIFE);
    }

    #[test]
    fn an_interval_is_never_nothing() {
        assert_eq!(Liveness::new(0, 0, 0).interval(), 1);
    }
}
