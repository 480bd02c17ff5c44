//! Fits of the functions of the models to measurements: robust, with many starts, and tested on points
//! that were held out.
//!
//! The thesis fitted its six λ by least squares from one start, chosen by hand, and knew that it stopped
//! in local minima. Here most λ are not searched. For a given shift and rate the others are linear: a
//! weighted linear problem (`linear`) gives them exactly, and Nelder-Mead (`search`) searches only
//! one or two dimensions, from a grid of starts. Distances are relative, because times span orders of
//! magnitude. The loss is robust: first absolute, then Tukey's, which gives distant points no weight. λ₃,
//! λ₄ and λ₆ of the round trip cannot be told apart (see [`RoundTrip`](crate::RoundTrip)), so λ₆ is 0 by
//! convention.

mod distance;
mod functions;
mod linear;
mod search;

pub use distance::{CurvePoint, Distance, distance};
pub use functions::{held_out, overhead, round_trip};
pub use linear::line;
