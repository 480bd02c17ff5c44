//! Combining in the order of [`fold_order`]: x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁)).

use crate::deposits::fold_order;
use crate::round::Round;
use crate::step::Place;

/// Combines the vectors at `places(0)` to `places(n - 1)`, in this order and grouping, into `into`.
pub fn fold(out: &mut Round, n: u32, places: impl Fn(u32) -> Place, into: Place, length: u32) {
    let (innermost, rest) = fold_order(n as usize);
    let mut so_far = places(innermost as u32);
    for i in rest {
        out.combine(into, places(i as u32), so_far, length);
        so_far = into;
    }
    out.copy(so_far, into, length);
}
