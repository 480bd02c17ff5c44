//! What a rank may do in a slot. May use: classifier.

use crate::classifier::Class;

/// What a rank may do on its core while a slot is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It has the core to itself, also while it waits.
    Alone,
    /// It runs before all others whenever it can; the others run while it waits.
    First,
    /// It runs while the owner of the slot waits.
    Gaps,
    /// It shares the core with other ranks as the operating system decides.
    Shared,
    /// It does not run.
    Off,
}

impl Turn {
    /// Whether the rank is switched on at all.
    pub fn may_run(self) -> bool {
        self != Turn::Off
    }
}

/// What a rank may do while a slot is on in which its core has this owner: CS alone; F first, DC in its
/// gaps; the slots of DC, and those without an owner, belong to all DC ranks of the core.
///
/// `owner` is the class of the rank that has the core in this slot; none if the cell is empty or the rank has
/// ended. `class` is that of the rank that asks.
///
/// ```
/// use evenkeel_gang::{Class, Turn, turn};
/// assert_eq!(turn(Class::F, true, Some(Class::F)), Turn::First);
/// assert_eq!(turn(Class::DC, false, Some(Class::F)), Turn::Gaps);
/// assert_eq!(turn(Class::DC, false, Some(Class::CS)), Turn::Off);
/// ```
pub fn turn(class: Class, is_owner: bool, owner: Option<Class>) -> Turn {
    match (owner, is_owner, class) {
        (Some(Class::CS), true, _) => Turn::Alone,
        (Some(Class::F), true, _) => Turn::First,
        (Some(Class::F), false, Class::DC) => Turn::Gaps,
        (Some(Class::DC), true, _) | (Some(Class::DC) | None, false, Class::DC) => Turn::Shared,
        _ => Turn::Off,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dont_care_ranks_run_in_slots_of_others() {
        for class in [Class::CS, Class::F, Class::DC] {
            assert!(turn(class, true, Some(class)).may_run());
            for owner in [None, Some(Class::CS), Some(Class::F), Some(Class::DC)] {
                let may_run = turn(class, false, owner).may_run();
                assert_eq!(may_run, class == Class::DC && owner != Some(Class::CS));
            }
        }
    }
}
