//! Return codes of MPI functions, made errors.

use std::ffi::{c_char, c_int, c_void};

use mpi_sys as ffi;

use crate::MpiError;

/// A call that failed; the caller knows at which rank and, for files, where.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Name of the function.
    pub(crate) call: &'static str,
    /// MPI's text for the error.
    pub(crate) text: String,
}

impl Failure {
    /// The error, with the rank at which it happened.
    pub(crate) fn at(self, rank: usize) -> MpiError {
        MpiError::Call { rank, call: self.call, text: self.text }
    }

    /// The error, before ranks have numbers.
    pub(crate) fn at_begin(self) -> MpiError {
        MpiError::Begin { call: self.call, text: self.text }
    }
}

/// Makes an error of a return code.
pub(crate) fn check(call: &'static str, code: c_int) -> Result<(), Failure> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    Err(Failure { call, text: error_text(code) })
}

fn error_text(code: c_int) -> String {
    let mut text = [0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the function writes at most MPI_MAX_ERROR_STRING bytes to `text` and their number to `length`.
    let told =
        unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut length) };
    if told != ffi::MPI_SUCCESS as c_int {
        return format!("error {code}");
    }
    // MPICH gives a stack of lines.
    let text = text_of(&text, length);
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The text that a function left in a buffer; `length` as it returned it.
pub(crate) fn text_of(buffer: &[u8], length: c_int) -> String {
    let length = usize::try_from(length).unwrap_or(0).min(buffer.len());
    let text = buffer[..length].split(|&byte| byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(text).trim().to_owned()
}

/// A rank or a count as MPI wants it. What is too large becomes a number that no function accepts.
pub(crate) fn int(number: usize) -> c_int {
    c_int::try_from(number).unwrap_or(c_int::MAX)
}

/// A number that MPI returned and that is not negative.
pub(crate) fn unsigned(number: c_int) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Where bytes begin, for MPI. An empty slice begins at address 1, which is MPI_IN_PLACE in Open MPI.
pub(crate) fn start(bytes: &[u8]) -> *const c_void {
    static NOTHING: u8 = 0;
    if bytes.is_empty() { (&raw const NOTHING).cast() } else { bytes.as_ptr().cast() }
}

/// The same for bytes that MPI writes: none if there are none.
pub(crate) fn start_mut(bytes: &mut [u8]) -> *mut c_void {
    if bytes.is_empty() { start(bytes).cast_mut() } else { bytes.as_mut_ptr().cast() }
}
