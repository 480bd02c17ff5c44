//! The processes of a measurement: started, introduced to each other, listened to, and seen to their end.

use crate::errors::Failure;
use evenkeel_options as options;
use evenkeel_tune::comparison::Comparison;
use evenkeel_tune::rank::MeasurementTask;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A rank that says nothing for so long beyond its time is taken to be stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// What ranks are measured with: barriers that are waited for, and no table. How they wait and where
/// they run is as in a run.
const SETTINGS: &[(&options::OptionSpec, &str)] = &[
    (&options::BARRIER, "strict"),
    (&options::TABLE, "none"),
    (&options::OFF, "0"),
    (&options::RECORD, "1"),
    (&options::REPORT, ""),
];

/// All ranks of one measurement.
pub struct Ranks {
    children: Vec<Child>,
    lines: Receiver<(usize, String)>,
}

impl Ranks {
    /// Starts `program tune rank` as often as there are ranks.
    pub fn start(program: &std::path::Path, ranks: u32) -> Result<Ranks, Failure> {
        let (sender, lines) = channel();
        let mut all = Ranks { children: Vec::new(), lines };
        for rank in 0..ranks as usize {
            let mut command = Command::new(program);
            command
                .args(["tune", "rank", &std::process::id().to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped());
            SETTINGS.iter().for_each(|(option, value)| _ = command.env(option.env, value));
            let mut child =
                command.spawn().map_err(|e| failed(format!("rank {rank} could not be started ({e})")))?;
            listen(rank, &mut child, sender.clone());
            all.children.push(child);
        }
        Ok(all)
    }

    /// Has them measure; `progress` is told the share of the time.
    pub fn measure(
        &mut self,
        task: &MeasurementTask,
        mut progress: impl FnMut(f64),
    ) -> Result<Comparison, Failure> {
        let cards = self.answers("card ")?.join(" ");
        self.tell(|rank| format!("{rank} {cards}"))?;
        let joined = self.answers("joined ")?.join(" ");
        self.tell(|_| joined.clone())?;
        self.tell(|rank| {
            serde_json::to_string(&MeasurementTask { rank, ..task.clone() })
                .expect("plain data has a JSON form")
        })?;
        let longest = PATIENCE + Duration::from_millis(task.screening_ms + task.finals_ms);
        loop {
            let (_, line) = self.next(longest)?;
            match line.split_once(' ') {
                Some(("progress", share)) => progress(share.parse().unwrap_or(0.0)),
                Some(("found", findings)) => {
                    return serde_json::from_str(findings)
                        .map_err(|e| failed(format!("rank 0 found nonsense ({e})")));
                }
                _ => return Err(failed(format!("a rank said `{line}`, which makes no sense"))),
            }
        }
    }

    /// One line of each rank, in the order of ranks, without what they begin with.
    fn answers(&mut self, begin: &str) -> Result<Vec<String>, Failure> {
        let mut answers = vec![None; self.children.len()];
        while answers.iter().any(Option::is_none) {
            let (rank, line) = self.next(PATIENCE)?;
            let answer = line
                .strip_prefix(begin)
                .ok_or_else(|| failed(format!("rank {rank} said `{line}`, which makes no sense")))?;
            answers[rank] = Some(answer.to_string());
        }
        Ok(answers.into_iter().flatten().collect())
    }

    fn next(&mut self, longest: Duration) -> Result<(usize, String), Failure> {
        self.lines
            .recv_timeout(longest)
            .map_err(|_| self.trouble())
            .and_then(|(rank, line)| if line.is_empty() { Err(self.trouble()) } else { Ok((rank, line)) })
    }

    fn tell(&mut self, what: impl Fn(usize) -> String) -> Result<(), Failure> {
        for (rank, child) in self.children.iter_mut().enumerate() {
            let told =
                child.stdin.as_mut().map(|pipe| writeln!(pipe, "{}", what(rank)).and_then(|()| pipe.flush()));
            if !matches!(told, Some(Ok(()))) {
                return Err(self.trouble());
            }
        }
        Ok(())
    }

    /// Who has ended, or that nobody has.
    fn trouble(&mut self) -> Failure {
        // A process that closes its end is gone a moment later.
        std::thread::sleep(Duration::from_millis(50));
        let ended = self
            .children
            .iter_mut()
            .enumerate()
            .find_map(|(rank, child)| Some((rank, child.try_wait().ok()??)));
        match ended {
            Some((rank, status)) => failed(format!("rank {rank} has ended ({status})")),
            None => failed("the ranks do not answer".into()),
        }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        for child in &mut self.children {
            // Those that have found something end by themselves; of the others nothing is wanted any more.
            drop(child.stdin.take());
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sends each line that a rank says, and an empty one if it ends before its time.
fn listen(rank: usize, child: &mut Child, to: Sender<(usize, String)>) {
    let from = child.stdout.take().expect("it is a pipe");
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let _ = to.send((rank, line)); // nobody listens any more: then nothing is lost
        }
        let _ = to.send((rank, String::new()));
    });
}

fn failed(why: String) -> Failure {
    Failure::Measuring { why }
}

/// A rank's whole life.
pub fn serve(starter: u32) -> Result<(), Failure> {
    // Nobody is left to tell when the command is gone.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| failed(e.to_string()))?;
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() as u32 != starter) {
        return Err(failed("it was not started by a measurement".into()));
    }
    evenkeel_tune::rank::run_rank(std::io::stdin().lock(), std::io::stdout().lock()).map_err(failed)
}
