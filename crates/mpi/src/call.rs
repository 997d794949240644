//! Converts return codes of MPI functions to errors, and arguments to the types of MPI.

use std::ffi::{c_char, c_int, c_void};

use mpi_sys as ffi;

use crate::MpiError;

/// A failed call of MPI. The caller adds the rank and, for files, the offset.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Name of the function that failed.
    pub(crate) call: &'static str,
    /// MPI's text for the error.
    pub(crate) text: String,
}

impl Failure {
    /// Converts to an error with the number of this rank.
    pub(crate) fn with_rank(self, rank: usize) -> MpiError {
        MpiError::Call { rank, call: self.call, text: self.text }
    }

    /// Converts to an error without a rank, for failures before ranks have numbers.
    pub(crate) fn at_begin(self) -> MpiError {
        MpiError::Initialize { call: self.call, text: self.text }
    }
}

/// Converts the return code of the function `call` to a result.
pub(crate) fn check(call: &'static str, code: c_int) -> Result<(), Failure> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    Err(Failure { call, text: error_text(code) })
}

fn error_text(code: c_int) -> String {
    let mut text = [0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the function writes at most MPI_MAX_ERROR_STRING bytes to `text` and their number to
    // `length`.
    let code_of_text =
        unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut length) };
    if code_of_text != ffi::MPI_SUCCESS as c_int {
        return format!("error {code}");
    }
    // MPICH returns several lines.
    let text = text_of(&text, length);
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Returns the text that a function of MPI wrote to a buffer. `length` is the length that it
/// returned.
pub(crate) fn text_of(buffer: &[u8], length: c_int) -> String {
    let length = usize::try_from(length).unwrap_or(0).min(buffer.len());
    let text = buffer[..length].split(|&byte| byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(text).trim().to_owned()
}

/// Converts a rank or a count. A number that is too large becomes one that no function of MPI
/// accepts.
pub(crate) fn int(number: usize) -> c_int {
    c_int::try_from(number).unwrap_or(c_int::MAX)
}

/// Converts a number that MPI returned. A negative number becomes 0.
pub(crate) fn unsigned(number: c_int) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Returns a pointer to the first byte, for MPI. For an empty slice it points to other memory: the
/// address of an empty slice can be 1, which means MPI_IN_PLACE in Open MPI.
pub(crate) fn start(bytes: &[u8]) -> *const c_void {
    static NOTHING: u8 = 0;
    if bytes.is_empty() { (&raw const NOTHING).cast() } else { bytes.as_ptr().cast() }
}

/// Returns a pointer to the first byte that MPI writes. An empty slice is handled as in [`start`].
pub(crate) fn start_mut(bytes: &mut [u8]) -> *mut c_void {
    if bytes.is_empty() { start(bytes).cast_mut() } else { bytes.as_mut_ptr().cast() }
}
