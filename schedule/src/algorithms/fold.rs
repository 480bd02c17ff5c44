//! Combining as the engine does: x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁)).

use crate::round::Round;
use crate::step::Place;

/// Combines what lies at `places(0)` to `places(n - 1)`, in this order and grouping, into `into`.
pub fn fold(out: &mut Round, n: u32, places: impl Fn(u32) -> Place, into: Place, length: u32) {
    let mut rest = places(n - 1);
    for i in (0..n - 1).rev() {
        out.combine(into, places(i), rest, length);
        rest = into;
    }
    out.copy(rest, into, length);
}
