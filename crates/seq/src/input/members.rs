//! Reads the concatenated members of a compressed file.

use std::io::{self, BufRead, Read};

/// Number of first bytes that identify a member.
const MAGIC: usize = 3;

/// The data that follow a member.
enum FollowingData {
    /// Another member, or bytes that are an error unless they are a member.
    Member,
    /// The end of the file, possibly after zeros.
    End,
    /// Other bytes, which are ignored.
    Other,
}

/// Decoder of one member of a compressed file.
pub(super) trait Member: Sized + Read {
    /// The source of compressed bytes.
    type Source: Read;

    /// Starts to decode a member.
    fn new(input: Peek<Self::Source>) -> Self;
    /// Returns the input after the member.
    fn into_input(self) -> Peek<Self::Source>;
    /// Returns whether these bytes begin a member. There are [`MAGIC`] bytes, or fewer at the end
    /// of the file.
    fn begins(start: &[u8]) -> io::Result<bool>;
}

impl<R: BufRead> Member for flate2::bufread::GzDecoder<Peek<R>> {
    type Source = R;

    fn new(input: Peek<R>) -> Self {
        Self::new(input)
    }

    fn into_input(self) -> Peek<R> {
        self.into_inner()
    }

    /// Decides as gzip does, which needs two bytes. gzip also accepts the magic bytes of older
    /// formats, whose data then cause an error.
    fn begins(start: &[u8]) -> io::Result<bool> {
        match start {
            [_] => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(matches!(start, [0x1f, 0x8b | 0x9d | 0x9e | 0x1e | 0xa0, ..])),
        }
    }
}

impl<R: BufRead> Member for bzip2::bufread::BzDecoder<Peek<R>> {
    type Source = R;

    fn new(input: Peek<R>) -> Self {
        Self::new(input)
    }

    fn into_input(self) -> Peek<R> {
        self.into_inner()
    }

    fn begins(start: &[u8]) -> io::Result<bool> {
        Ok(b"BZh".starts_with(start))
    }
}

/// Reader of all members of a file. It calls `warn` once if other bytes than zeros follow the last
/// one.
pub(super) struct Members<M, W> {
    /// The current member; `None` after the last one.
    member: Option<M>,
    warn: W,
}

impl<M: Member, W: FnMut()> Members<M, W>
where
    M::Source: BufRead,
{
    pub(super) fn new(input: M::Source, warn: W) -> Self {
        Self { member: Some(M::new(Peek::new(input))), warn }
    }

    /// Returns the next member of `input`; `None` if there is none.
    fn following(&mut self, mut input: Peek<M::Source>) -> io::Result<Option<M>> {
        match next::<M>(&mut input)? {
            FollowingData::Member => return Ok(Some(M::new(input))),
            FollowingData::End => {}
            FollowingData::Other => (self.warn)(),
        }
        Ok(None)
    }
}

impl<M: Member, W: FnMut()> Read for Members<M, W>
where
    M::Source: BufRead,
{
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(buffer)? {
                0 if !buffer.is_empty() => {
                    let ended = self.member.take().map(M::into_input);
                    self.member = ended.map_or(Ok(None), |input| self.following(input))?;
                }
                count => return Ok(count),
            }
        }
        Ok(0)
    }
}

fn next<M: Member>(input: &mut Peek<M::Source>) -> io::Result<FollowingData>
where
    M::Source: BufRead,
{
    match input.peek()? {
        [] => Ok(FollowingData::End),
        [0, ..] => rest_is_zeros(input)
            .map(|zeros| if zeros { FollowingData::End } else { FollowingData::Other }),
        start => M::begins(start)
            .map(|begins| if begins { FollowingData::Member } else { FollowingData::Other }),
    }
}

fn rest_is_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(true);
        }
        if bytes.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        let count = bytes.len();
        input.consume(count);
    }
}

/// Reader that can return its next bytes without consuming them.
pub(super) struct Peek<R> {
    /// Bytes that were read but not consumed.
    held: Vec<u8>,
    inner: R,
}

impl<R: BufRead> Peek<R> {
    fn new(inner: R) -> Self {
        Self { held: Vec::new(), inner }
    }

    /// Returns the next [`MAGIC`] bytes, or fewer at the end.
    fn peek(&mut self) -> io::Result<&[u8]> {
        let missing = MAGIC.saturating_sub(self.held.len()) as u64;
        self.inner.by_ref().take(missing).read_to_end(&mut self.held)?;
        Ok(&self.held)
    }
}

impl<R: BufRead> Read for Peek<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Peek<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.held.is_empty() { self.inner.fill_buf() } else { Ok(&self.held) }
    }

    fn consume(&mut self, count: usize) {
        if self.held.is_empty() {
            self.inner.consume(count);
        } else {
            self.held.drain(..count);
        }
    }
}
