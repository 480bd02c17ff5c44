//! Lower and upper bounds of a datatype.

use crate::error::LayoutError;

/// One bound of a datatype. Explicit ones come from resizing, and win against those of bytes: so says the
/// standard (MPI 4.1, 5.1.6, the markers `lb_marker` and `ub_marker`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bound {
    pub(crate) at: isize,
    pub(crate) is_explicit: bool,
}

impl Bound {
    /// Of two bounds the one that counts; `prefers_lower` says which of two of the same sort.
    fn winner(self, other: Bound, prefers_lower: bool) -> Bound {
        match (self.is_explicit, other.is_explicit) {
            (true, false) => self,
            (false, true) => other,
            _ if prefers_lower == (self.at <= other.at) => self,
            _ => other,
        }
    }

    fn shifted(self, by: isize) -> Result<Bound, LayoutError> {
        Ok(Bound { at: self.at.checked_add(by).ok_or(LayoutError::Overflow)?, ..self })
    }
}

/// Both bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bounds {
    pub(crate) lower: Bound,
    pub(crate) upper: Bound,
}

impl Bounds {
    pub(crate) fn of_bytes(lower: isize, upper: isize) -> Bounds {
        let bound = |at| Bound { at, is_explicit: false };
        Bounds { lower: bound(lower), upper: bound(upper) }
    }

    pub(crate) fn shifted(self, by: isize) -> Result<Bounds, LayoutError> {
        Ok(Bounds { lower: self.lower.shifted(by)?, upper: self.upper.shifted(by)? })
    }

    pub(crate) fn joined(self, other: Bounds) -> Bounds {
        Bounds { lower: self.lower.winner(other.lower, true), upper: self.upper.winner(other.upper, false) }
    }
}
