//! What ranks write, on its way to the two streams of this process. A stream that is not read holds up the
//! ranks that write to it.

use super::rank::Stream;
use super::ranks::Ranks;
use super::sources::{Source, Sources};
use crate::job::JobError;
use crate::output::Sink;
use crate::pmi1::Client;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

/// Standard output and standard error.
#[derive(Debug)]
pub(super) struct Streams {
    sinks: [Sink; 2],
    /// Whether the ranks' streams are not read because their sink is full.
    is_held: [bool; 2],
}

fn duplicate(fd: BorrowedFd) -> Result<OwnedFd, JobError> {
    fd.try_clone_to_owned().map_err(JobError::system("dup"))
}

impl Streams {
    /// Those of this process.
    pub(super) fn start(sources: &Sources) -> Result<Streams, JobError> {
        Streams::to([duplicate(rustix::stdio::stdout())?, duplicate(rustix::stdio::stderr())?], sources)
    }

    fn to(ends: [OwnedFd; 2], sources: &Sources) -> Result<Streams, JobError> {
        let sink = |end| Sink::start(end).map_err(JobError::system("a thread for output"));
        let [stdout, stderr] = ends;
        let streams = Streams { sinks: [sink(stdout)?, sink(stderr)?], is_held: [false; 2] };
        for stream in Stream::ALL {
            sources.watch(streams.sinks[stream as usize].room(), Source::Room(stream))?;
        }
        Ok(streams)
    }

    /// Says something to the user, in a line of its own.
    pub(super) fn say(&self, sentence: &str) {
        self.sinks[Stream::Stderr as usize].add(format!("evenkeel: {sentence}\n").as_bytes());
    }

    /// Passes on what one rank has written.
    pub(super) fn pass_output_on(
        &mut self,
        client: Client,
        stream: Stream,
        ranks: &mut Ranks,
        sources: &Sources,
    ) {
        let mut out = Vec::new();
        ranks[client].read_output(stream, &mut out);
        self.pass_on(stream, &out, ranks, sources);
    }

    /// Passes beginnings of lines on for which it is time.
    pub(super) fn pass_prompts_on(&mut self, now: Instant, ranks: &mut Ranks, sources: &Sources) {
        for stream in Stream::ALL {
            let mut out = Vec::new();
            for rank in ranks.iter_mut().filter(|rank| rank.prompt_at().is_some_and(|at| at <= now)) {
                rank.flush_prompt(stream, &mut out);
            }
            self.pass_on(stream, &out, ranks, sources);
        }
    }

    /// Passes on what is left, when no rank runs any more.
    pub(super) fn pass_rest_on(&self, ranks: &mut Ranks) {
        for rank in ranks.iter_mut() {
            for stream in Stream::ALL {
                let mut out = Vec::new();
                rank.read_rest(stream, &mut out);
                self.sinks[stream as usize].add(&out);
            }
        }
    }

    fn pass_on(&mut self, stream: Stream, bytes: &[u8], ranks: &Ranks, sources: &Sources) {
        if !bytes.is_empty() && !self.sinks[stream as usize].add(bytes) {
            self.hold(stream, true, ranks, sources);
        }
    }

    /// Stops or resumes reading a stream of all ranks.
    fn hold(&mut self, stream: Stream, is_held: bool, ranks: &Ranks, sources: &Sources) {
        if std::mem::replace(&mut self.is_held[stream as usize], is_held) == is_held {
            return;
        }
        for (client, rank) in ranks.iter().enumerate() {
            if let Some(pipe) = rank.output(stream) {
                sources.hold(pipe, Source::Output(client, stream), is_held);
            }
        }
    }

    /// There is room in a stream, or its reader has gone.
    pub(super) fn take_room(&mut self, stream: Stream, ranks: &mut Ranks, sources: &Sources) {
        if self.sinks[stream as usize].has_reader() {
            self.hold(stream, false, ranks, sources);
        } else {
            // As if the ranks wrote there themselves: they get SIGPIPE or EPIPE.
            ranks.iter_mut().for_each(|rank| rank.close_output(stream));
        }
    }

    /// Waits until all has been written.
    pub(super) fn finish(self) {
        self.sinks.into_iter().for_each(Sink::finish);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_loop::rank::Rank;
    use rustix::pipe::pipe;
    use std::os::fd::AsFd;

    /// One rank whose standard output is watched, its end to write to, and who reads in the end.
    struct Output {
        sources: Sources,
        streams: Streams,
        ranks: Ranks,
        rank: OwnedFd,
        reader: Option<OwnedFd>,
    }

    const OF_RANK: Source = Source::Output(0, Stream::Stdout);

    fn output() -> Output {
        let sources = Sources::new().unwrap();
        let ((reader, stdout), (_, stderr)) = (pipe().unwrap(), pipe().unwrap());
        let streams = Streams::to([stdout, stderr], &sources).unwrap();
        let ((rank, [writer, _]), mut ranks) = (Rank::example(1), Ranks::default());
        sources.watch(rank.output(Stream::Stdout).unwrap(), OF_RANK).unwrap();
        ranks.add(rank);
        Output { sources, streams, ranks, rank: writer, reader: Some(reader) }
    }

    /// Writes lines until the rank is not read any more.
    fn fill(output: &mut Output) {
        while !output.streams.is_held[0] {
            rustix::io::write(&output.rank, &[b'\n'; 4096]).unwrap();
            let Output { streams, ranks, sources, .. } = output;
            streams.pass_output_on(0, Stream::Stdout, ranks, sources);
        }
        rustix::io::write(&output.rank, b"\n").unwrap();
    }

    /// Waits for room in standard output.
    fn take_room(output: &mut Output) {
        assert_eq!(output.sources.wait(None), [Source::Room(Stream::Stdout)], "the rank is not read");
        let Output { streams, ranks, sources, .. } = output;
        streams.take_room(Stream::Stdout, ranks, sources);
    }

    #[test]
    fn a_stream_that_is_not_read_holds_ranks_up_until_it_is() {
        let mut output = output();
        fill(&mut output);
        let reader = output.reader.take().unwrap();
        let reading = std::thread::spawn(move || {
            let mut part = [0; 1 << 16];
            while rustix::io::read(&reader, &mut part).is_ok_and(|read| read > 0) {}
        });
        take_room(&mut output);
        assert!(!output.streams.is_held[0] && output.sources.wait(None).contains(&OF_RANK));
        output.streams.finish();
        reading.join().unwrap();
    }

    #[test]
    fn ranks_whose_output_nobody_reads_find_their_pipe_closed() {
        let mut output = output();
        fill(&mut output);
        output.reader = None;
        take_room(&mut output);
        assert!(output.ranks[0].output(Stream::Stdout).is_none());
        assert!(rustix::io::write(output.rank.as_fd(), b"x").is_err());
    }
}
