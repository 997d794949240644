//! The files of `-mask_data`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fleetblast_job::error::{Error, exit};
use fleetblast_makedb::masks::{MaskAlgorithmError, MaskError, MaskFile, SequenceMasks};

use super::log::{Log, warn};
use super::options::Options;
use super::options_error;

/// Reads all files of `-mask_data` into `masks`.
pub(super) fn read(
    options: &Options,
    masks: &mut SequenceMasks,
    log: &mut Log,
) -> Result<(), Error> {
    let Some(files) = &options.mask_data else { return Ok(()) };
    let files = list(files);
    let names = options.mask_id.as_deref().map(list);
    if let Some(names) = &names {
        if names.len() != files.len() {
            let what = "the size of mask_id does not match that of mask_data.";
            return Err(options_error(what));
        }
        if names.iter().any(|name| is_number(name)) {
            return Err(options_error("mask_id can not be numeric."));
        }
    }
    let descriptions = options.mask_desc.as_deref().map(list);
    if descriptions.as_ref().is_some_and(|list| list.len() != files.len()) {
        let what = "the size of mask_desc does not match that of mask_data.";
        return Err(options_error(what));
    }
    for (i, file) in files.iter().enumerate() {
        let path = Path::new(file);
        if !path.exists() {
            let shown = path.display();
            warn(format_args!(
                "Error: [makeblastdb] Ignoring mask file '{shown}' as it does not exist."
            ));
            continue;
        }
        let name = names.as_ref().map(|names| names[i].as_bytes());
        let description = descriptions.as_ref().map_or(&b""[..], |list| list[i].as_bytes());
        read_file(path, name, description, masks, log)?;
    }
    Ok(())
}

fn read_file(
    path: &Path,
    name: Option<&[u8]>,
    description: &[u8],
    masks: &mut SequenceMasks,
    log: &mut Log,
) -> Result<(), Error> {
    let mut file = MaskFile::open(path).map_err(mask_error)?;
    let mut algorithm = None;
    while let Some(info) = file.read_next_description().map_err(mask_error)? {
        let id = match algorithm {
            Some(id) => id,
            None => {
                log.say(&format!("Mask file: {}", path.display()));
                let added = match name {
                    Some(name) => masks.add_custom_algorithm(name, description, &info.options),
                    None => {
                        let name = path.as_os_str().as_bytes();
                        masks.add_program_algorithm(info.program, &info.options, name)
                    }
                };
                added.map_err(algorithm_error)?
            }
        };
        algorithm = Some(id);
        file.for_each_mask(|sequence, ranges| masks.add_ranges(id, sequence, ranges))
            .map_err(mask_error)?;
    }
    Ok(())
}

/// Splits a list at commas.
fn list(text: &OsStr) -> Vec<OsString> {
    let text = text.as_bytes().trim_ascii();
    text.split(|&byte| byte == b',').map(|part| OsStr::from_bytes(part).to_owned()).collect()
}

fn is_number(text: &OsStr) -> bool {
    text.to_str().is_some_and(|text| text.parse::<i32>().is_ok())
}

fn mask_error(error: MaskError) -> Error {
    options_error(&error)
}

/// Returns the error for an algorithm that cannot be added.
pub(super) fn algorithm_error(error: MaskAlgorithmError) -> Error {
    Error::new(exit::INPUT, format!("BLAST Database creation error: {error}"))
}
