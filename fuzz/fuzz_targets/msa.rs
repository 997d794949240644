//! Reads arbitrary bytes as a multiple alignment that a user typed, and aligns its rows to each of
//! the first sequences.
#![no_main]

use fleetblast_engine::pssm::typed::align_rows;
use fleetblast_seq::msa::{MsaError, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| match read(bytes) {
    Ok(rows) => {
        let columns: Vec<&[u8]> = rows.iter().map(|row| &row.columns[..]).collect();
        assert!(columns.len() > 1 && columns.iter().all(|row| row.len() == columns[0].len()));
        for (master, row) in rows.iter().enumerate().take(4) {
            let Ok(laid) = align_rows(&columns, master) else { continue };
            let letters = row.letters().count();
            assert!(laid.rows().iter().all(|row| row.len() == letters));
        }
        assert!(align_rows(&columns, columns.len()).is_err());
    }
    Err(MsaError::Malformed { line, .. } | MsaError::MixedBases { line }) => {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
        assert!(line <= lines);
    }
    Err(_) => {}
});
