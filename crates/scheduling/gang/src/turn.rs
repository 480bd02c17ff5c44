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
/// gaps. The slots of DC ranks, and those without an owner, belong to all DC and F ranks of the core. F
/// ranks must run there too: their own slot comes too rarely for the DC ranks of their job, which run in all
/// slots and wait for them.
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
        (Some(Class::DC), true, _) => Turn::Shared,
        (Some(Class::DC) | None, false, Class::DC | Class::F) => Turn::Shared,
        _ => Turn::Off,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_run_in_slots_of_others_as_the_classes_say() {
        for class in [Class::CS, Class::F, Class::DC] {
            assert!(turn(class, true, Some(class)).may_run());
            let may_run = |owner| turn(class, false, owner).may_run();
            let owners = [None, Some(Class::CS), Some(Class::F), Some(Class::DC)];
            let expected = match class {
                Class::CS => [false, false, false, false],
                Class::F => [true, false, false, true],
                Class::DC => [true, false, true, true],
            };
            assert_eq!(owners.map(may_run), expected, "{class:?}");
        }
    }
}
