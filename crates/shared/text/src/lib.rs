//! Text for terminals: what every command and every report prints is laid out here.
//!
//! [`page::Page`] puts a report together from [paragraphs](paragraph) and [tables](table) that fit a width;
//! [`units`] writes numbers as people read them. Column widths, spans and alignment are tabled's work, line
//! breaks textwrap's; ours is the rule which columns a narrow terminal goes without.
//!
//! May use: tabled, textwrap. Must never: print, ask for the size of a terminal, or panic on any text. The
//! summary at the end of a run is laid out inside other people's programs, and its names may contain
//! anything.

pub mod page;
pub mod paragraph;
pub mod table;
pub mod units;
