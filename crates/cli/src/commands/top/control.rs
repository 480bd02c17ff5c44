//! What keys do: which rows are shown, in which order, how often they are renewed.

use super::arguments::INTERVALS;
use super::rows::Order;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Duration;

/// What the user has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// See [`Order`].
    pub order: Order,
    /// The order is turned round.
    pub is_reversed: bool,
    /// From one renewal to the next.
    pub interval: Duration,
    /// Nothing is renewed.
    pub stands_still: bool,
    /// The first row that is shown.
    pub first: usize,
}

/// What is to be done about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Draw again.
    Draw,
    /// Leave.
    Leave,
    /// Stop this process until the shell continues it.
    Suspend,
    /// Nothing.
    None,
}

impl Control {
    /// What the command line says.
    pub fn new(order: Order, interval: Duration) -> Control {
        Control { order, is_reversed: false, interval, stands_still: false, first: 0 }
    }

    /// Reacts to a key. `rows` there are, of which `shown` fit on the screen.
    pub fn press(&mut self, key: &KeyEvent, rows: usize, shown: usize) -> Reaction {
        if key.kind == KeyEventKind::Release {
            return Reaction::None;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Reaction::Leave,
                KeyCode::Char('z') => Reaction::Suspend,
                KeyCode::Char('l') => Reaction::Draw,
                _ => Reaction::None,
            };
        }
        let page = shown.saturating_sub(1).max(1);
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Reaction::Leave,
            KeyCode::Down | KeyCode::Char('j') => self.first += 1,
            KeyCode::Up | KeyCode::Char('k') => self.first = self.first.saturating_sub(1),
            KeyCode::PageDown => self.first += page,
            KeyCode::PageUp => self.first = self.first.saturating_sub(page),
            KeyCode::Home | KeyCode::Char('g') => self.first = 0,
            KeyCode::End | KeyCode::Char('G') => self.first = rows,
            KeyCode::Char('r') => self.sort_by(Order::Rank),
            KeyCode::Char('w') => self.sort_by(Order::Waiting),
            KeyCode::Char('c') => self.sort_by(Order::Cpu),
            KeyCode::Char('h') => self.sort_by(Order::HoldsUp),
            KeyCode::Char('s') => self.sort_by(Order::Since),
            KeyCode::Char('+') => self.interval = (self.interval * 2).min(*INTERVALS.end()),
            KeyCode::Char('-') => self.interval = (self.interval / 2).max(*INTERVALS.start()),
            KeyCode::Char(' ') => self.stands_still = !self.stands_still,
            _ => return Reaction::None,
        }
        self.first = self.first.min(rows.saturating_sub(shown));
        Reaction::Draw
    }

    fn sort_by(&mut self, order: Order) {
        self.is_reversed = self.order == order && !self.is_reversed;
        (self.order, self.first) = (order, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(control: &mut Control, code: KeyCode) -> Reaction {
        control.press(&KeyEvent::new(code, KeyModifiers::NONE), 100, 20)
    }

    #[test]
    fn scrolling_ends_at_both_ends() {
        let mut control = Control::new(Order::Rank, Duration::from_secs(1));
        let keys = [
            (KeyCode::Up, 0),
            (KeyCode::Down, 1),
            (KeyCode::PageDown, 20),
            (KeyCode::End, 80),
            (KeyCode::Char('j'), 80),
            (KeyCode::PageUp, 61),
            (KeyCode::Home, 0),
        ];
        for (key, first) in keys {
            assert_eq!((press(&mut control, key), control.first), (Reaction::Draw, first), "{key}");
        }
        let many = KeyEvent::new(KeyCode::End, KeyModifiers::NONE);
        control.press(&many, 5, 20);
        assert_eq!(control.first, 0, "all rows fit");
    }

    #[test]
    fn a_sorting_key_pressed_twice_turns_the_order_round() {
        let mut control = Control::new(Order::Rank, Duration::from_secs(1));
        let mut sort = |key| {
            press(&mut control, KeyCode::Char(key));
            (control.order, control.is_reversed)
        };
        assert_eq!(sort('w'), (Order::Waiting, false));
        assert_eq!(sort('w'), (Order::Waiting, true));
        assert_eq!(sort('h'), (Order::HoldsUp, false));
        assert_eq!(sort('r'), (Order::Rank, false));
        assert_eq!(sort('r'), (Order::Rank, true));
    }

    #[test]
    fn keys_that_leave_and_the_limits_of_the_interval() {
        let mut control = Control::new(Order::Rank, Duration::from_secs(1));
        for key in [KeyCode::Esc, KeyCode::Char('q')] {
            assert_eq!(press(&mut control, key), Reaction::Leave);
        }
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(control.press(&interrupt, 1, 1), Reaction::Leave);
        assert_eq!(press(&mut control, KeyCode::Char('c')), Reaction::Draw, "without Ctrl it sorts");
        (0..20).for_each(|_| assert_eq!(press(&mut control, KeyCode::Char('-')), Reaction::Draw));
        assert_eq!(control.interval, Duration::from_millis(200));
        (0..20).for_each(|_| assert_eq!(press(&mut control, KeyCode::Char('+')), Reaction::Draw));
        assert_eq!(control.interval, Duration::from_secs(60));
    }
}
