//! Carries out `evenkeel top`.

use super::arguments::TopArguments;
use super::control::Control;
use super::live::{self, Leave};
use super::{plain, rows};
use crate::errors::CommandError;
use crate::jobs::discovery;
use crate::jobs::observation::BETWEEN_LOOKS;
use crate::jobs::watch::{JobEnded, JobView, JobWatch};
use crate::output::terminal;
use evenkeel_text::units::duration;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shows the job, or returns one table of it.
pub fn top(arguments: &TopArguments) -> Result<String, CommandError> {
    let job = discovery::job_named(arguments.job)?;
    let (began, id) = (Instant::now(), job.id);
    let title = plain::title(&job);
    let mut watch = JobWatch::begin(job, began, u64::from(std::process::id()));
    let interval = Duration::from_secs_f64(arguments.interval);
    let ended = || {
        let watched = duration(began.elapsed().as_nanos() as u64);
        format!("Job {id} has ended; it was watched for {watched}.\n")
    };
    if arguments.once || !std::io::stdout().is_terminal() {
        return Ok(match view_once(&mut watch, interval) {
            Err(JobEnded) => ended(),
            Ok(view) => {
                let rows = rows::rows(&view, arguments.sort, false);
                plain::text(&title, &view, &rows, terminal::width())
            }
        });
    }
    Ok(match live::show(watch, Control::new(arguments.sort, interval))? {
        Leave::Asked => String::new(),
        Leave::JobEnded => ended(),
    })
}

/// One view after one interval.
fn view_once(watch: &mut JobWatch, interval: Duration) -> Result<JobView, JobEnded> {
    let end = Instant::now() + interval;
    let mut first = None;
    loop {
        let now = Instant::now();
        watch.sample(now)?;
        if now >= end - BETWEEN_LOOKS && first.is_none() {
            first = Some(watch.first_look());
        }
        if now >= end {
            let first = first.unwrap_or_else(|| watch.first_look());
            return watch.second_look(first, now);
        }
        std::thread::sleep(watch.until_sample(now).min(end - now).min(BETWEEN_LOOKS / 4));
    }
}
