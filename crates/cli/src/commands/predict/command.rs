//! Carries out `evenkeel predict`.

use super::arguments::PredictArguments;
use super::trace_scores::{PredictorScore, TraceScores};
use crate::errors::CommandError;
use crate::launch::trace_folder;
use crate::output::terminal;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::{count, plural};

const COLUMNS: [Column; 4] = [
    Column { group: "", head: "predictor", dispensable: 0 },
    Column { group: "", head: "hits", dispensable: 0 },
    Column { group: "", head: "wrong", dispensable: 1 },
    Column { group: "", head: "hits, worst rank", dispensable: 2 },
];

/// Returns the scores.
pub fn predict(arguments: &PredictArguments) -> Result<String, CommandError> {
    let mut scores = Vec::new();
    for trace in &arguments.traces {
        let ranks = trace_folder::times(trace)?;
        scores.push(TraceScores::of(trace.display().to_string(), &ranks, &arguments.windows));
    }
    if arguments.json {
        return Ok(serde_json::to_string_pretty(&scores).expect("records consist of plain data") + "\n");
    }
    Ok(text(&scores))
}

fn text(scores: &[TraceScores]) -> String {
    let mut page = Page::new(terminal::width());
    for of_trace in scores {
        let TraceScores { trace, ranks, receives, .. } = of_trace;
        let posted = plural(*receives, "receive", "receives");
        let ranks = plural(*ranks as u64, "rank", "ranks");
        page.paragraph(&format!(
            "{trace}: {ranks}, {posted}; {} a rank, {} of them different",
            range(of_trace.receives_of_a_rank),
            range(of_trace.different_of_a_rank)
        ));
        if *receives > 0 {
            let row = |score: &PredictorScore| {
                let wrong = score.wrong.map_or("-".into(), ratio);
                vec![score.name.clone(), ratio(score.hits), wrong, ratio(score.worst_rank)]
            };
            page.blank().table(&COLUMNS, &of_trace.predictors.iter().map(row).collect::<Vec<_>>());
        }
        page.blank();
    }
    page.paragraph(
        "Of all receives. LRU, FIFO and LFU hold so many receives, and hit if the next one is among them; \
         the others foresee one. What is neither right nor wrong was not foreseen.",
    );
    page.text()
}

fn ratio(ratio: f64) -> String {
    format!("{ratio:.3}")
}

fn range((least, most): (u64, u64)) -> String {
    if least == most { count(most) } else { format!("{} to {}", count(least), count(most)) }
}
