//! Converts return codes of MPI functions to errors, and arguments to MPI's types.

use std::ffi::{c_char, c_int, c_void};

use mpi_sys as ffi;

use crate::MpiError;

/// A failed call. The caller adds the rank and, for files, the offset.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Name of the function.
    pub(crate) call: &'static str,
    /// MPI's text for the error.
    pub(crate) text: String,
}

impl Failure {
    /// Adds the rank.
    pub(crate) fn with_rank(self, rank: usize) -> MpiError {
        MpiError::Call { rank, call: self.call, text: self.text }
    }

    /// Converts to an error without a rank, for failures before ranks have numbers.
    pub(crate) fn at_begin(self) -> MpiError {
        MpiError::Initialize { call: self.call, text: self.text }
    }
}

/// Checks a return code.
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

/// The text that a function wrote to a buffer, with the `length` that it returned.
pub(crate) fn text_of(buffer: &[u8], length: c_int) -> String {
    let length = usize::try_from(length).unwrap_or(0).min(buffer.len());
    let text = buffer[..length].split(|&byte| byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(text).trim().to_owned()
}

/// Converts a rank or a count. A number that is too large becomes one that no function accepts.
pub(crate) fn int(number: usize) -> c_int {
    c_int::try_from(number).unwrap_or(c_int::MAX)
}

/// Converts a number that MPI returned and that is not negative.
pub(crate) fn unsigned(number: c_int) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Pointer to the first byte, for MPI. An empty slice has address 1, which is MPI_IN_PLACE in Open
/// MPI.
pub(crate) fn start(bytes: &[u8]) -> *const c_void {
    static NOTHING: u8 = 0;
    if bytes.is_empty() { (&raw const NOTHING).cast() } else { bytes.as_ptr().cast() }
}

/// Pointer to the first of the bytes that MPI writes. The slice may be empty, as in [`start`].
pub(crate) fn start_mut(bytes: &mut [u8]) -> *mut c_void {
    if bytes.is_empty() { start(bytes).cast_mut() } else { bytes.as_mut_ptr().cast() }
}
