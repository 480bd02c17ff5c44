//! What all plots have in common: colours, fonts, and a drawing area that becomes an SVG document.

use crate::errors::PlotError;
use plotters::coord::{CoordTranslate, Shift};
use plotters::prelude::*;

/// The font of every label. SVG viewers choose a face of that kind.
pub const FONT: &str = "sans-serif";

/// Colours that remain apart for colour-blind eyes (Okabe and Ito, <https://jfly.uni-koeln.de/color/>).
pub const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(86, 80, 70),
];

/// A part of a drawing.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What a function that draws returns. Its errors name types of the plot library and are shown as text.
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// An SVG document of this size in pixels that needs no other file. `draw` draws on white; its errors, and
/// those of the plot library, become a [`PlotError`].
pub fn svg(size: (u32, u32), draw: impl FnOnce(&Area) -> Drawn) -> Result<String, PlotError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE).map_err(|e| PlotError(e.to_string()))?;
        draw(&area).map_err(|e| PlotError(e.to_string()))?;
        area.present().map_err(|e| PlotError(e.to_string()))?;
    }
    Ok(text)
}

/// Draws the legend of a chart into its upper left corner.
pub fn draw_legend<'a, C: CoordTranslate>(
    chart: &mut ChartContext<'a, SVGBackend<'a>, C>,
    font_size: u32,
) -> Drawn {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font((FONT, font_size))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}

/// The entry of a legend: a short line of a colour.
pub fn legend_line(colour: RGBColor) -> impl Fn((i32, i32)) -> PathElement<(i32, i32)> {
    move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2))
}
