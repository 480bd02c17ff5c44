//! What all plots have in common.

use plotters::style::RGBColor;

pub const FONT: &str = "sans-serif";
/// Colours that remain apart for colour-blind eyes (Okabe and Ito).
pub const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(86, 80, 70),
];
