//! The command line of `evenkeel predict`.

use std::path::PathBuf;

/// Show how well the receives of recorded runs could have been foreseen
///
/// Programs post the same receives over and over. From those that a rank has posted, each predictor foresees
/// the next one, and it is counted how often it is right. The runs must have been recorded with `evenkeel run
/// --trace DIRECTORY --trace-level times`. Two receives are the same if their source, tag, length and
/// communicator are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evenkeel run --trace t --trace-level times -n 16 -- ./app && evenkeel predict t
  evenkeel predict --windows 1,2,5,10,20 t     how many different receives alternate
  evenkeel predict --json t u > scores.json")]
pub struct PredictArguments {
    /// The folders of the traces
    #[arg(value_name = "DIRECTORY", required = true)]
    pub traces: Vec<PathBuf>,
    /// How many different receives the predictors LRU, FIFO and LFU keep in mind; all sizes are tried
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_value = "5")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub windows: Vec<u16>,
    /// Write the scores as JSON
    #[arg(long)]
    pub json: bool,
}
