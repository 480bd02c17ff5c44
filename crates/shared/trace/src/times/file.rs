//! Reads a rank's file.

use super::clock::Clock;
use super::format::{
    CLOCKS, COMM, COMM_NAME, Ending, FORMAT, FUNCTION, HEADER_BYTES, LIVE_OFFSET, LONG_CALL, Live, MODULE,
    Moment, OPEN_CALL_OFFSET, OPEN_NAME_BYTES, SHAPE, SHAPES, SITE, STARTED_RECEIVE, STARTED_SEND, Start,
    THREAD, TOOK, Ticks, record_of, seal,
};
use super::shape::{Envelope, FAILED, Shape};
use crate::rank_file::{self, FileFormat, RankFileError};
use crate::varint::{take, take_signed};

/// A file with code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its absolute path.
    pub path: String,
    /// Its size.
    pub size: u64,
    /// Its time of change, ns since 1970.
    pub changed_ns: u64,
}

/// From where MPI is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Which of the files; `None`: not in one.
    pub module: Option<u32>,
    /// Where the call returns to: offset in the file, or the address.
    pub offset: u64,
}

/// A communicator as one of its members sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comm {
    /// World ranks of the members of this rank's group; negative: of another world.
    pub members: Vec<i32>,
    /// Those of the remote group; empty for an intracommunicator.
    pub remote: Vec<i32>,
    /// The name that the program has given.
    pub name: String,
}

/// What a call has done to requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It has completed a receive that was posted: its number, and the message.
    Took(u64, Envelope),
    /// It has started a persistent send on this communicator.
    StartedSend(u32, Envelope),
    /// It has posted a persistent receive on this communicator.
    Posted(u32, Envelope),
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The thread, 0 for the one that has called `MPI_Init`.
    pub thread: u32,
    /// Which of [`Times::shapes`].
    pub shape: u32,
    /// Ticks at entry.
    pub entry: u64,
    /// Ticks at exit.
    pub exit: u64,
    /// Its remarks are those before this one, from the call before on.
    pub remarks_end: u32,
}

/// The call that a rank was in when it was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// Ticks at entry.
    pub entry: u64,
    /// The function.
    pub name: String,
    /// The peer.
    pub peer: i32,
    /// The tag.
    pub tag: i32,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// What was known at the start.
    pub start: Start,
    /// The counters.
    pub live: Live,
    /// Names.
    pub functions: Vec<String>,
    /// Files with code.
    pub modules: Vec<Module>,
    /// Places.
    pub sites: Vec<Site>,
    /// In the order in which the rank got to know them: first the world, then the rank alone.
    pub comms: Vec<Comm>,
    /// All that calls refer to.
    pub shapes: Vec<Shape>,
    /// In the order in which they ended.
    pub calls: Vec<Call>,
    /// In the order of the calls.
    pub remarks: Vec<Remark>,
    /// Ticks and nanoseconds.
    pub moments: Vec<Moment>,
    /// If it was in one.
    pub open: Option<OpenCall>,
}

impl Times {
    /// Reads a file. It must have been read as a whole.
    pub fn parse(file: &[u8]) -> Result<Times, RankFileError> {
        let (start, live) = header(file, FORMAT)?;
        let mut times = Times { start, live, ..Times::default() };
        let end = HEADER_BYTES + live.used as usize;
        let mut records = Records {
            numbered: vec![None; SHAPES],
            lasts: vec![times.start.before_init.ticks],
            thread: 0,
            posted: 0,
        };
        let mut rest = &file[HEADER_BYTES..end];
        while !rest.is_empty() {
            let offset = (end - rest.len()) as u64;
            records.take(&mut rest, &mut times).ok_or(RankFileError::Damaged { offset })?;
        }
        // A process that was killed may have written a call and not counted it.
        let uncounted = (times.calls.len() as u64).wrapping_sub(live.calls);
        if uncounted > u64::from(live.ending == Ending::Open) {
            return Err(RankFileError::Damaged { offset: LIVE_OFFSET as u64 + 8 });
        }
        if live.ending == Ending::Open {
            times.open = open_call(&file[OPEN_CALL_OFFSET..]);
        }
        Ok(times)
    }

    /// What its ticks mean.
    pub fn clock(&self) -> Clock {
        Clock::new(&self.start, &self.moments)
    }

    /// The shape of a call.
    pub fn shape(&self, call: &Call) -> &Shape {
        &self.shapes[call.shape as usize]
    }

    /// The name of the function of a call.
    pub fn name(&self, call: &Call) -> &str {
        &self.functions[self.shape(call).function as usize]
    }

    /// What the call with this number has done to requests.
    pub fn remarks_of(&self, call: usize) -> &[Remark] {
        let first = call.checked_sub(1).map_or(0, |before| self.calls[before].remarks_end as usize);
        &self.remarks[first..self.calls[call].remarks_end as usize]
    }
}

/// Checks what can be checked without reading the records.
pub(crate) fn header(file: &[u8], format: FileFormat) -> Result<(Start, Live), RankFileError> {
    format.check(file)?;
    let long = |at: usize| rank_file::long(file, at);
    let short = |at: usize| rank_file::short(file, at);
    let damaged = |offset: u64| RankFileError::Damaged { offset };
    let ticks = match short(20) {
        0 => Ticks::Nanoseconds,
        1 => Ticks::Counter,
        _ => return Err(damaged(20)),
    };
    let moment = |at: usize| Moment { ticks: long(at), ns: long(at + 8) };
    let length = usize::from(u16::from_le_bytes([file[84], file[85]]));
    let name = file[86..LIVE_OFFSET].get(..length).ok_or(damaged(84))?;
    let start = Start {
        ranks: short(12),
        rank: short(16),
        ticks,
        run: long(24),
        host: long(32),
        before_init: moment(40),
        opened: moment(56),
        realtime_ns: long(72),
        process: short(80),
        host_name: String::from_utf8_lossy(name).into_owned(),
    };
    if start.rank >= start.ranks {
        return Err(damaged(16));
    }
    let ending = Ending::of(long(LIVE_OFFSET + 16)).ok_or(damaged(LIVE_OFFSET as u64 + 16))?;
    let live = Live { used: long(LIVE_OFFSET), calls: long(LIVE_OFFSET + 8), ending, seal: long(536) };
    rank_file::end_of_records(file, live.used)?;
    if ending == Ending::Finalized && seal(file, &live) != live.seal {
        return Err(RankFileError::WrongSeal);
    }
    Ok((start, live))
}

fn open_call(bytes: &[u8]) -> Option<OpenCall> {
    let entry = u64::from_le_bytes(bytes[..8].try_into().ok()?);
    let number = |at: usize| bytes[at..at + 4].try_into().map(i32::from_le_bytes);
    let name = bytes[16..16 + OPEN_NAME_BYTES].split(|&byte| byte == 0).next()?;
    let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?.to_string();
    (entry != 0).then_some(OpenCall { entry, name, peer: number(8).ok()?, tag: number(12).ok()? })
}

/// What reading has come to.
struct Records {
    /// Which shape has a number at the moment.
    numbered: Vec<Option<u32>>,
    /// The exits before, of each thread.
    lasts: Vec<u64>,
    thread: usize,
    posted: u64,
}

/// No program has so many threads.
pub(crate) const MOST_THREADS: u64 = 1 << 20;

impl Records {
    /// Takes one record; `None`: it cannot be.
    fn take(&mut self, rest: &mut &[u8], times: &mut Times) -> Option<()> {
        let (&first, after) = rest.split_first()?;
        *rest = after;
        match record_of(first) {
            None => {
                let shape = number_of(rest, first & 3)?;
                let gap = number_of(rest, first >> 2 & 7)?;
                let length = number_of(rest, first >> 5)?;
                self.call(times, shape, gap, length)
            }
            Some(LONG_CALL) => {
                let (shape, gap, length) = (take(rest)?, take(rest)?, take(rest)?);
                self.call(times, shape, gap, length)
            }
            Some(SHAPE) => {
                let number = usize::try_from(take(rest)?).ok()?;
                let shape = Shape::take(rest)?;
                let is_known = (shape.function as usize) < times.functions.len()
                    && (shape.site as usize) < times.sites.len()
                    && shape.comm.is_none_or(|comm| (comm as usize) < times.comms.len());
                *self.numbered.get_mut(number).filter(|_| is_known)? = Some(times.shapes.len() as u32);
                times.shapes.push(shape);
                Some(())
            }
            Some(record) => self.definition(record, rest, times),
        }
    }

    fn definition(&mut self, record: u8, rest: &mut &[u8], times: &mut Times) -> Option<()> {
        match record {
            FUNCTION => times.functions.push(text(rest)?),
            MODULE => {
                let (size, changed_ns) = (take(rest)?, take(rest)?);
                times.modules.push(Module { path: text(rest)?, size, changed_ns });
            }
            SITE => {
                let module = take(rest)?.checked_sub(1);
                if module.is_some_and(|module| module >= times.modules.len() as u64) {
                    return None;
                }
                times.sites.push(Site { module: module.map(|module| module as u32), offset: take(rest)? });
            }
            COMM => {
                // No group has more ranks than the world and those that were connected to it.
                let most = times.start.ranks.max(1 << 20) as usize;
                let members = ranks(rest, most)?;
                times.comms.push(Comm { members, remote: ranks(rest, most)?, name: String::new() });
            }
            COMM_NAME => {
                let comm = usize::try_from(take(rest)?).ok()?;
                times.comms.get_mut(comm)?.name = text(rest)?;
            }
            CLOCKS => {
                let (moment, after) = rest.split_first_chunk::<16>()?;
                *rest = after;
                let number = |at: usize| moment[at..at + 8].try_into().map(u64::from_le_bytes);
                times.moments.push(Moment { ticks: number(0).ok()?, ns: number(8).ok()? });
            }
            THREAD => {
                let thread = take(rest).filter(|&thread| thread < MOST_THREADS)? as usize;
                let known = self.lasts.len().max(thread + 1);
                self.lasts.resize(known, times.start.before_init.ticks);
                self.thread = thread;
            }
            TOOK => {
                let back = take(rest).filter(|&back| back > 0)?;
                times.remarks.push(Remark::Took(self.posted.checked_sub(back)?, Envelope::take(rest)?));
            }
            STARTED_SEND | STARTED_RECEIVE => {
                let comm = u32::try_from(take(rest)?).ok()?;
                times.comms.get(comm as usize)?;
                let message = Envelope::take(rest)?;
                times.remarks.push(match record {
                    STARTED_SEND => Remark::StartedSend(comm, message),
                    _ => Remark::Posted(comm, message),
                });
                self.posted += u64::from(record == STARTED_RECEIVE);
            }
            _ => return None,
        }
        Some(())
    }

    fn call(&mut self, times: &mut Times, shape: u64, gap: u64, length: u64) -> Option<()> {
        let shape = (*self.numbered.get(usize::try_from(shape).ok()?)?)?;
        let last = &mut self.lasts[self.thread];
        let entry = last.checked_add(gap)?;
        let exit = entry.checked_add(length)?;
        *last = exit;
        let what = &times.shapes[shape as usize];
        self.posted += u64::from(what.role.posts() && what.marks & FAILED == 0);
        let remarks_end = times.remarks.len().try_into().ok()?;
        times.calls.push(Call { thread: self.thread as u32, shape, entry, exit, remarks_end });
        Some(())
    }
}

/// A number of so many bytes.
fn number_of(rest: &mut &[u8], bytes: u8) -> Option<u64> {
    // 7 bytes are never written: then the whole call is written in another way.
    let (number, after) = rest.split_at_checked(usize::from(bytes)).filter(|_| bytes < 7)?;
    *rest = after;
    Some(number.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

pub(crate) fn text(rest: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(take(rest)?).ok()?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(String::from_utf8_lossy(text).into_owned())
}

pub(crate) fn ranks(rest: &mut &[u8], most: usize) -> Option<Vec<i32>> {
    let mut ranks = Vec::new();
    for _ in 0..take(rest)? {
        let (first, count, distance) = (take_signed(rest)?, take(rest)?, take_signed(rest)?);
        if count > (most - ranks.len()) as u64 {
            return None;
        }
        for number in 0..count as i64 {
            let rank = number.checked_mul(distance)?.checked_add(first)?;
            ranks.push(i32::try_from(rank).ok()?);
        }
    }
    Some(ranks)
}
