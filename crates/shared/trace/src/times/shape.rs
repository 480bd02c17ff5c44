//! What is known of a call beside its times.
//!
//! Programs call the same functions from the same places with the same arguments over and over. So the file
//! has each combination once, its *shape*, and a call consists of the number of its shape and two times.

use crate::varint::{push, push_signed, take, take_signed};

/// No rank takes part by name.
pub const NO_PEER: i32 = -2;
/// `MPI_PROC_NULL`.
pub const PROC_NULL: i32 = -1;
/// `MPI_ANY_SOURCE`, or `MPI_ANY_TAG`.
pub const ANY: i32 = -3;
/// `MPI_ROOT`.
pub const ROOT: i32 = -4;
/// The call has no tag.
pub const NO_TAG: i32 = i32::MIN;

/// What a call does to messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Nothing.
    #[default]
    Other,
    /// It sends one.
    Send,
    /// It has taken one.
    Receive,
    /// It has sent one, and taken the one of [`Shape::second`].
    SendReceive,
    /// It has posted a receive.
    Post,
    /// It has sent one, and posted the receive of [`Shape::second`].
    SendPost,
    /// All members of the communicator make it.
    Collective,
}

impl Role {
    const ALL: [Role; 7] = [
        Role::Other,
        Role::Send,
        Role::Receive,
        Role::SendReceive,
        Role::Post,
        Role::SendPost,
        Role::Collective,
    ];

    /// By its number.
    pub fn of(number: u8) -> Option<Role> {
        Role::ALL.get(usize::from(number)).copied()
    }

    /// Whether the call sends a message to [`Envelope::peer`].
    pub fn sends(self) -> bool {
        matches!(self, Role::Send | Role::SendReceive | Role::SendPost)
    }

    /// Whether the call posts a receive.
    pub fn posts(self) -> bool {
        matches!(self, Role::Post | Role::SendPost)
    }

    fn has_second(self) -> bool {
        matches!(self, Role::SendReceive | Role::SendPost)
    }
}

/// Where a message goes to or comes from, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// Rank in the communicator (in the remote group, if there is one), the root, or a negative number of
    /// this module.
    pub peer: i32,
    /// The tag, or a negative number of this module.
    pub tag: i32,
    /// Bytes; `None`: not known.
    pub bytes: Option<u64>,
}

impl Default for Envelope {
    fn default() -> Self {
        Envelope { peer: NO_PEER, tag: NO_TAG, bytes: None }
    }
}

impl Envelope {
    pub(crate) fn push(&self, bytes: &mut Vec<u8>) {
        push_signed(bytes, self.peer.into());
        push_signed(bytes, if self.tag == NO_TAG { -2 } else { self.tag.into() });
        push(bytes, self.bytes.map_or(0, |count| count.saturating_add(1)));
    }

    pub(crate) fn take(bytes: &mut &[u8]) -> Option<Envelope> {
        let peer = i32::try_from(take_signed(bytes)?).ok().filter(|&peer| peer >= ROOT)?;
        let tag = match i32::try_from(take_signed(bytes)?).ok()? {
            -2 => NO_TAG,
            tag if tag >= 0 || tag == ANY => tag,
            _ => return None,
        };
        Some(Envelope { peer, tag, bytes: take(bytes)?.checked_sub(1) })
    }
}

/// The call has failed, or ended by an exception.
pub const FAILED: u8 = 1;
/// The receive named no source.
pub const ANY_SOURCE: u8 = 2;
/// The receive named no tag.
pub const ANY_TAG: u8 = 4;

/// A combination of function, place and arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// By its number in the file.
    pub function: u32,
    /// Where it is called, by its number in the file.
    pub site: u32,
    /// The communicator, by its number in the file.
    pub comm: Option<u32>,
    /// What it does to messages.
    pub role: Role,
    /// [`FAILED`], [`ANY_SOURCE`], [`ANY_TAG`].
    pub marks: u8,
    /// What is sent, or taken, or posted, or the root and what it deals with.
    pub first: Envelope,
    /// The receive of a call that sends, too.
    pub second: Option<Envelope>,
}

impl Shape {
    pub(crate) fn push(&self, bytes: &mut Vec<u8>) {
        push(bytes, self.function.into());
        push(bytes, self.site.into());
        push(bytes, self.comm.map_or(0, |number| u64::from(number) + 1));
        bytes.push(self.role as u8 | self.marks << 3);
        self.first.push(bytes);
        if self.role.has_second() {
            self.second.unwrap_or_default().push(bytes);
        }
    }

    pub(crate) fn take(bytes: &mut &[u8]) -> Option<Shape> {
        let function = take(bytes)?.try_into().ok()?;
        let site = take(bytes)?.try_into().ok()?;
        let comm = match take(bytes)?.checked_sub(1) {
            None => None,
            Some(number) => Some(number.try_into().ok()?),
        };
        let (&what, rest) = bytes.split_first()?;
        *bytes = rest;
        let (role, marks) = (Role::of(what & 7)?, what >> 3);
        if marks > FAILED | ANY_SOURCE | ANY_TAG {
            return None;
        }
        let first = Envelope::take(bytes)?;
        let second = if role.has_second() { Some(Envelope::take(bytes)?) } else { None };
        Some(Shape { function, site, comm, role, marks, first, second })
    }

    /// The envelope of the message that the call has taken, or of the receive that it has posted.
    pub fn received(&self) -> Option<&Envelope> {
        match self.role {
            Role::Receive | Role::Post => Some(&self.first),
            Role::SendReceive | Role::SendPost => self.second.as_ref(),
            Role::Other | Role::Send | Role::Collective => None,
        }
    }
}
