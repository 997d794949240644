//! Reads the concatenated members of a compressed file.

use std::io::{self, BufRead, Read};

/// Number of bytes that identify a member.
const MAGIC: usize = 3;

/// The kind of data that follows a member.
enum Next {
    /// Another member, or bytes that must be one.
    Member,
    /// The end of the file, or only zeros.
    End,
    /// Something else.
    Other,
}

/// A decoder of one member.
pub(super) trait Member: Sized + Read {
    /// The source of compressed bytes.
    type Source: Read;

    /// Starts to decode a member.
    fn new(input: Peek<Self::Source>) -> Self;
    /// Returns the input after the member.
    fn into_input(self) -> Peek<Self::Source>;
    /// Whether these bytes begin a member. They are [`MAGIC`] bytes, fewer at the end of the file.
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

    /// gzip needs two bytes to decide. It also knows the magic bytes of older formats, which cannot
    /// follow.
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

/// Reads all members. Calls `warn` once if anything but zeros follows the last one.
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

    /// Returns the next member of `input`, if there is one.
    fn following(&mut self, mut input: Peek<M::Source>) -> io::Result<Option<M>> {
        match next::<M>(&mut input)? {
            Next::Member => return Ok(Some(M::new(input))),
            Next::End => {}
            Next::Other => (self.warn)(),
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

fn next<M: Member>(input: &mut Peek<M::Source>) -> io::Result<Next>
where
    M::Source: BufRead,
{
    match input.peek()? {
        [] => Ok(Next::End),
        [0, ..] => rest_is_zeros(input).map(|zeros| if zeros { Next::End } else { Next::Other }),
        start => M::begins(start).map(|begins| if begins { Next::Member } else { Next::Other }),
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

/// A reader that can peek at the next bytes.
pub(super) struct Peek<R> {
    /// Bytes that were read but not consumed.
    held: Vec<u8>,
    inner: R,
}

impl<R: BufRead> Peek<R> {
    fn new(inner: R) -> Self {
        Self { held: Vec::new(), inner }
    }

    /// Returns the next [`MAGIC`] bytes, fewer only at the end.
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
