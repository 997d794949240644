//! Reads the letters, names and masks of subjects for reports.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::PoisonError;

use fleetblast_db::{Defline, SequenceKind, TaxonNames};
use fleetblast_engine::subjects::Masks;
use fleetblast_report::ArchivedName;
use fleetblast_report::error::SubjectReadError;
use fleetblast_report::model::{self, IdentityLetters, SubjectSource};
use fleetblast_report::row_position::SearchedExtent;
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::SeqId;

use super::SubjectDatabase;
use super::letters::MaskedLetters;
use super::shown::letters_at_same_positions;

impl SubjectSource for SubjectDatabase {
    fn extent(&self, oid: u32) -> SearchedExtent {
        let searched = self.searched_start..self.searched_start + self.searched.length_of(oid);
        SearchedExtent { length: self.whole.length_of(oid), searched_range: searched }
    }

    fn report_letters(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>> {
        let code = self.translation.as_ref().map(|translation| &translation.report_code);
        let translate = code.map(|code| |letters: &[u8]| code.translate_for_report(letters));
        let shown = self.shown_oid(oid).ok()?;
        if shown != oid {
            let place = (frame, read, self.whole.length_of(oid));
            return letters_at_same_positions(self.stored_letters(shown)?, place, translate);
        }
        MaskedLetters { stored: self.stored_letters(oid)?, masks: Masks::None }
            .view(frame, read, translate)
    }

    fn letters_for_identities(
        &self,
        oid: u32,
        frame: Frame,
        read: Range<u32>,
        count: IdentityLetters,
    ) -> Option<Cow<'_, [u8]>> {
        let code = self.translation.as_ref().map(|translation| match count {
            IdentityLetters::MaskedByReportCode => &translation.report_code,
            IdentityLetters::Aligned | IdentityLetters::Unmasked => &translation.code,
        });
        let translate = code.map(|code| |letters: &[u8]| code.translate(letters));
        let masks = match count {
            IdentityLetters::Unmasked => Masks::None,
            IdentityLetters::Aligned | IdentityLetters::MaskedByReportCode => self.masks_of(oid),
        };
        let mut letters = MaskedLetters { stored: self.stored_letters(oid)?, masks }
            .view(frame, read, translate)?;
        // Searches of FASTA subjects replace O by X, as in queries.
        if self.summary.is_subject && frame == Frame::Protein && letters.contains(&alphabet::O) {
            let replaced = letters.to_mut().iter_mut().filter(|code| **code == alphabet::O);
            replaced.for_each(|code| *code = alphabet::X);
        }
        Some(letters)
    }

    fn deflines(&self, oid: u32) -> Result<Vec<Defline>, SubjectReadError> {
        let lines = match &self.shared_identifiers {
            Some(shared) => shared.deflines(&self.whole, oid),
            None => self.whole.deflines(oid),
        };
        lines.map_err(Into::into)
    }

    fn own_id(&self, oid: u32) -> Result<Option<SeqId>, SubjectReadError> {
        let Some(shared) = &self.shared_identifiers else { return Ok(None) };
        shared.own_id(&self.whole, oid).map_err(Into::into)
    }

    fn shares_identifiers(&self) -> bool {
        self.shared_identifiers.is_some()
    }

    fn shown_length(&self, oid: u32) -> u32 {
        self.whole.length_of(self.shown_oid(oid).unwrap_or(oid))
    }

    fn has_taxonomy(&self) -> bool {
        self.taxonomy.is_installed()
    }

    fn taxon(&self, taxid: i64) -> Result<Option<TaxonNames>, SubjectReadError> {
        self.taxonomy.names_of_taxid(taxid).map_err(Into::into)
    }

    fn fasta_subjects(&self) -> Result<Vec<model::FastaSubject<'_>>, SubjectReadError> {
        let subject = |oid: u32| -> Result<_, SubjectReadError> {
            let defline = &self.fasta_deflines[oid as usize][..];
            let mut lines = self.deflines(oid)?;
            let Defline { ids, title, .. } = lines.swap_remove(0);
            let whole = 0..self.whole.length_of(oid);
            let frame = match self.whole.kind() {
                SequenceKind::Protein => Frame::Protein,
                _ => Frame::Strand(Strand::Plus),
            };
            let letters = self.report_letters(oid, frame, whole).unwrap_or_default();
            Ok(model::FastaSubject { ids, defline, title, letters })
        };
        (0..self.fasta_deflines.len() as u32).map(subject).collect()
    }

    fn archived_name(&self, oid: u32) -> Option<ArchivedName> {
        let names = self.archived_names.read().unwrap_or_else(PoisonError::into_inner);
        names.get(&oid).cloned()
    }

    fn is_listed(&self) -> bool {
        self.is_listed
    }

    fn masks(&self, oid: u32) -> &[Range<u32>] {
        if self.hides_masks {
            return &[];
        }
        let shown = if self.summary.is_subject { &self.lower_case } else { &self.masks };
        shown.ranges_of(oid)
    }
}
