//! What calls pass and get, by name.

use evenkeel_trace::checks::file::{Function, Parameter};

/// Names of arguments and results that rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "they are the standard's names")]
pub enum Field {
    Buf,
    SendBuf,
    RecvBuf,
    Count,
    SendCount,
    RecvCount,
    SendCounts,
    RecvCounts,
    Datatype,
    SendType,
    RecvType,
    SendTypes,
    RecvTypes,
    Dest,
    Source,
    Tag,
    SendTag,
    RecvTag,
    Comm,
    NewComm,
    Request,
    Requests,
    Root,
    Op,
    Status,
    Statuses,
    Flag,
    Index,
    OutCount,
    Indices,
    Message,
    Other,
}

const NAMES: [(&str, Field); 38] = [
    ("buf", Field::Buf),
    ("buffer", Field::Buf),
    ("sendbuf", Field::SendBuf),
    ("recvbuf", Field::RecvBuf),
    ("count", Field::Count),
    ("incount", Field::Count),
    ("sendcount", Field::SendCount),
    ("recvcount", Field::RecvCount),
    ("sendcounts", Field::SendCounts),
    ("recvcounts", Field::RecvCounts),
    ("datatype", Field::Datatype),
    ("sendtype", Field::SendType),
    ("recvtype", Field::RecvType),
    ("sendtypes", Field::SendTypes),
    ("recvtypes", Field::RecvTypes),
    ("dest", Field::Dest),
    ("source", Field::Source),
    ("tag", Field::Tag),
    ("sendtag", Field::SendTag),
    ("recvtag", Field::RecvTag),
    ("comm", Field::Comm),
    ("comm_old", Field::Comm),
    ("intercomm", Field::Comm),
    ("newcomm", Field::NewComm),
    ("comm_cart", Field::NewComm),
    ("comm_graph", Field::NewComm),
    ("comm_dist_graph", Field::NewComm),
    ("newintracomm", Field::NewComm),
    ("request", Field::Request),
    ("array_of_requests", Field::Requests),
    ("root", Field::Root),
    ("op", Field::Op),
    ("status", Field::Status),
    ("array_of_statuses", Field::Statuses),
    ("flag", Field::Flag),
    ("index", Field::Index),
    ("outcount", Field::OutCount),
    ("array_of_indices", Field::Indices),
];

fn field(name: &str) -> Field {
    if name == "message" {
        return Field::Message;
    }
    NAMES.iter().find(|(known, _)| *known == name).map_or(Field::Other, |(_, field)| *field)
}

/// How a list of words is to be read.
#[derive(Clone, Debug, Default)]
pub struct Layout(Vec<(Field, u8)>);

/// A function as the rules see it.
#[derive(Clone, Debug)]
pub struct FunctionLayout {
    /// `Isend` of `MPI_Isend_c`.
    pub base: String,
    /// What is passed.
    pub arguments: Layout,
    /// What comes back.
    pub results: Layout,
}

impl FunctionLayout {
    /// Of a function in a file.
    pub fn new(function: &Function) -> FunctionLayout {
        let layout =
            |parameters: &[Parameter]| Layout(parameters.iter().map(|p| (field(&p.name), p.kind)).collect());
        let base = function.name.strip_prefix("MPI_").unwrap_or(&function.name);
        FunctionLayout {
            base: base.strip_suffix("_c").unwrap_or(base).to_string(),
            arguments: layout(&function.arguments),
            results: layout(&function.results),
        }
    }
}

/// Words of a call.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    layout: &'a Layout,
    words: &'a [i64],
}

/// Words that a status has.
pub const STATUS_WORDS: usize = 4;

impl<'a> Words<'a> {
    /// Of a call of a function with this layout.
    pub fn new(layout: &'a Layout, words: &'a [i64]) -> Words<'a> {
        Words { layout, words }
    }

    /// All of them: the field, the code of its kind, and its words. Ends where words are missing.
    pub fn each(self) -> impl Iterator<Item = (Field, u8, &'a [i64])> {
        let mut rest = self.words;
        self.layout.0.iter().map_while(move |&(field, kind)| {
            let count = if kind.is_ascii_lowercase() {
                1
            } else {
                let (&count, after) = rest.split_first()?;
                rest = after;
                usize::try_from(count).ok()?.checked_mul(if kind == b'S' { STATUS_WORDS } else { 1 })?
            };
            let (words, after) = rest.split_at_checked(count)?;
            rest = after;
            Some((field, kind, words))
        })
    }

    /// A list; empty if there is none.
    pub fn list(self, wanted: Field) -> &'a [i64] {
        self.each().find(|(field, ..)| *field == wanted).map_or(&[], |(_, _, words)| words)
    }

    /// A single word.
    pub fn get(self, wanted: Field) -> Option<i64> {
        let is_it = |&(field, kind, _): &(Field, u8, &[i64])| field == wanted && kind.is_ascii_lowercase();
        self.each().find(is_it).and_then(|(_, _, words)| words.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_skipped_by_their_length() {
        let parameter = |(name, kind): (&str, u8)| Parameter { name: name.into(), kind };
        let arguments = [("count", b'n'), ("array_of_requests", b'Q'), ("tag", b't')].map(parameter);
        let name = "MPI_Waitall_c".to_string();
        let function = Function { name, arguments: arguments.to_vec(), results: Vec::new() };
        let layout = FunctionLayout::new(&function);
        assert_eq!(layout.base, "Waitall");
        let words = Words::new(&layout.arguments, &[2, 2, 70, 80, 5]);
        assert_eq!((words.get(Field::Count), words.get(Field::Tag)), (Some(2), Some(5)));
        assert_eq!(words.list(Field::Requests), [70, 80]);
        assert_eq!(Words::new(&layout.arguments, &[2, 9, 70]).get(Field::Tag), None);
        assert_eq!(Words::new(&layout.arguments, &[2, -1, 70]).list(Field::Requests), [] as [i64; 0]);
    }
}
