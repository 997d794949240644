//! Chooses names of queries and subjects for each output format.

mod queries;

use fleetblast_db::{Defline, SequenceKind};
use fleetblast_seq::id::{self, ObjectId, SeqId, TextRanking};
use fleetblast_stats::release::Release;

pub use self::queries::{
    query_display_name, query_title, sam_query_name, sequence_id, tabular_query_ids,
    xml_query_definition, xml_query_id,
};
use crate::archived_name::{ArchivedName, listed_name};
use crate::error::ReportError;
use crate::model::{Format, ReportSetup, SubjectSource};
use crate::text::first_word;
use crate::title::{self, TitleFacts};

/// Returns the name of a FASTA subject in the list of subjects of `BlastOutput2`.
pub fn listed_subject(ids: &[SeqId]) -> Vec<u8> {
    id::choose_best_id(ids).map_or_else(Vec::new, SeqId::format_for_report)
}

/// An entry of a subject in `BlastOutput2` (`HitDescr`, blastxml2.asn).
#[derive(Debug)]
pub struct Description {
    /// The identifiers.
    pub id: Vec<u8>,
    /// The accession; empty if there is none.
    pub accession: Vec<u8>,
    /// The title.
    pub title: Option<Vec<u8>>,
    /// The taxid; `None` if it is unknown.
    pub taxid: Option<i64>,
    /// The scientific name of the taxon, if there is a taxonomy database.
    pub scientific_name: Option<Vec<u8>>,
}

/// Returns the identifier by which BLAST+ names a subject in alignments: a gi, or else the first
/// one (`GetSequenceLengthAndId`, blast_seqinfosrc_aux.cpp). `None` if there is none.
pub fn alignment_id(deflines: &[Defline]) -> Option<&SeqId> {
    let mut ids = deflines.iter().flat_map(|line| &line.ids);
    ids.clone().find(|id| matches!(id, SeqId::Gi(_))).or_else(|| ids.next())
}

fn defined(definition: Vec<u8>) -> Vec<u8> {
    if definition.is_empty() { b"No definition line".to_vec() } else { definition }
}

/// A subject's definition lines, and the one that BLAST+ chooses to name it.
#[derive(Debug)]
pub struct SubjectNames {
    /// All definition lines.
    pub deflines: Vec<Defline>,
    /// Index of the definition line that names the subject: the line with `own_id` if there is such
    /// an identifier, else the first line with a gi, else the first line.
    chosen: usize,
    /// For each definition line, whether the pairwise report shows it.
    shown: Vec<bool>,
    /// Whether the search was restricted to a list of sequences.
    is_listed: bool,
    /// The identifier by which alignments name the subject, if it comes from an archive or if the
    /// definition lines are those of another sequence; otherwise `None`.
    own_id: Option<SeqId>,
    /// The name of the subject in the archive of a restricted search; `None` for other reports.
    archived: Option<ArchivedName>,
    is_protein: bool,
    /// Scientific name of the subject's taxon: `None` without a taxid, empty for a taxon without a
    /// name.
    organism: Option<Vec<u8>>,
    /// Whether the subject comes from FASTA, not from a database.
    pub is_from_fasta: bool,
    parse_deflines: bool,
    release: &'static Release,
}

impl SubjectNames {
    /// Reads the definition lines of subject `oid`.
    ///
    /// # Errors
    /// If the definition lines cannot be read or the subject has none.
    pub fn read(
        setup: &ReportSetup,
        source: &dyn SubjectSource,
        oid: u32,
    ) -> Result<Self, ReportError> {
        let mut lines =
            source.deflines(oid).map_err(|cause| ReportError::Deflines { oid, cause })?;
        if lines.is_empty() {
            return Err(ReportError::NoDefline { oid });
        }
        // Volumes number their sequences from 0; reports print the OID in the whole database.
        for id in lines.iter_mut().flat_map(|line| &mut line.ids).filter(|id| id.is_ordinal()) {
            if let SeqId::General { tag, .. } = id {
                *tag = ObjectId::Number(i64::from(oid));
            }
        }
        let archived = source.archived_name(oid);
        let own_id = match &archived {
            Some(name) => Some(name.id.clone()),
            None => source.own_id(oid).map_err(|cause| ReportError::Deflines { oid, cause })?,
        };
        let has_id = |id: &SeqId| lines.iter().position(|line| line.ids.contains(id));
        let named = own_id.as_ref().and_then(has_id);
        let with_gi = || lines.iter().position(|line| id::first_gi(&line.ids) > 0);
        let chosen = named.or_else(with_gi).unwrap_or(0);
        let shown = match &archived {
            Some(name) => name.lines_to_show(&lines),
            None => lines_to_show(&lines, source.is_listed()),
        };
        let organism = match needs_organism(setup, &lines) {
            true => organism(source, &lines, chosen)?,
            false => None,
        };
        Ok(Self {
            deflines: lines,
            chosen,
            shown,
            is_listed: source.is_listed(),
            own_id,
            archived,
            is_protein: setup.database.kind == SequenceKind::Protein,
            organism,
            is_from_fasta: setup.database.is_subject,
            parse_deflines: setup.output.parse_deflines,
            release: setup.params.common().release,
        })
    }

    /// Returns the definition line that BLAST+ chooses to name the subject.
    pub fn chosen_defline(&self) -> &Defline {
        &self.deflines[self.chosen]
    }

    fn ids(&self) -> impl Iterator<Item = &SeqId> {
        self.deflines.iter().flat_map(|line| &line.ids)
    }

    /// Returns the [identifier](alignment_id) by which BLAST+ names the subject in alignments.
    pub fn alignment_id(&self) -> Option<&SeqId> {
        self.own_id.as_ref().or_else(|| alignment_id(&self.deflines))
    }

    /// Returns the identifiers that an archive of a restricted search lists for the subject; none
    /// if the search is not restricted (`GetFilteredRedundantSeqids`, blast_seqinfosrc_aux.cpp).
    pub fn listed_ids(&self) -> Vec<Vec<u8>> {
        if let Some(name) = &self.archived {
            return name.listed.clone();
        }
        if !self.is_listed {
            return Vec::new();
        }
        let uses_gi = matches!(self.alignment_id(), Some(SeqId::Gi(_)));
        let listed = self.ids().filter_map(|id| match id {
            SeqId::Gi(_) if uses_gi => Some(listed_name(id)),
            SeqId::Text { accession, .. } if !uses_gi && !accession.is_empty() => {
                Some(listed_name(id))
            }
            SeqId::Pdb { .. } if !uses_gi => Some(listed_name(id)),
            _ => None,
        });
        listed.collect()
    }

    /// Whether BLAST+ identifies the subject in alignments by its first identifier. Only then does
    /// it find stored masks: it stores them under the first identifier, but looks for the gi of any
    /// line (`CSeqDbSeqInfoSrc::GetMasks`, seqinfosrc_seqdb.cpp).
    pub fn is_aligned_by_first_id(&self) -> bool {
        let gi =
            self.deflines.iter().flat_map(|line| &line.ids).find(|id| matches!(id, SeqId::Gi(_)));
        self.is_from_fasta || gi.is_none() || self.deflines[0].ids.first() == gi
    }

    /// Returns the definition lines that the pairwise report shows for a subject with this number
    /// of alignments. BLAST+ combines several ungapped alignments into one that has no list of
    /// lines, and then shows all lines (`BLASTUngappedHspListToSeqAlign`, api/blast_seqalign.cpp).
    pub fn shown_deflines(&self, setup: &ReportSetup, alignments: usize) -> Vec<&Defline> {
        let all = setup.params.common().ungapped && alignments > 1;
        let lines = self.deflines.iter().zip(&self.shown);
        lines.filter(|(_, shown)| all || **shown).map(|(line, _)| line).collect()
    }

    /// Returns the subject's title: the stored one, tidied, or a generated one.
    pub fn title(&self) -> Vec<u8> {
        self.generate_title(false)
    }

    /// Returns the subject's title in the table of descriptions.
    pub fn table_title(&self) -> Vec<u8> {
        self.generate_title(true)
    }

    fn generate_title(&self, is_in_table: bool) -> Vec<u8> {
        let Defline { title, ids, .. } = self.chosen_defline();
        let organism = self.organism.as_deref();
        let (is_protein, untitled) = (self.is_protein, title::UNNAMED_PROTEIN_TITLE);
        let facts = TitleFacts {
            title,
            ids,
            is_protein,
            fallback_title: untitled,
            organism,
            release: self.release,
            is_in_table,
        };
        facts.generate()
    }

    /// Returns the identifiers of the chosen definition line in the tabular formats.
    pub fn tabular_ids(&self) -> Vec<SeqId> {
        let ids = self.chosen_defline().ids.iter();
        if self.is_from_fasta && !self.parse_deflines {
            let word = first_word(&self.chosen_defline().title);
            return ids.map(|id| self.named_id(&if_local(id, word))).collect();
        }
        ids.map(|id| self.named_id(id)).collect()
    }

    /// Returns the identifiers of each definition line in the tabular formats.
    pub fn all_tabular_ids(&self) -> Vec<Vec<SeqId>> {
        if self.is_from_fasta {
            let word = if self.parse_deflines {
                &[][..]
            } else {
                first_word(&self.chosen_defline().title)
            };
            return vec![self.chosen_defline().ids.iter().map(|id| if_local(id, word)).collect()];
        }
        self.deflines
            .iter()
            .map(|line| line.ids.iter().map(|id| self.named_id(id)).collect())
            .collect()
    }

    /// Returns the identifier, or the first word of the title as an identifier if `id` is only a
    /// number.
    fn named_id(&self, id: &SeqId) -> SeqId {
        let title = if is_bare_number(id) { self.title() } else { Vec::new() };
        match first_word(&title) {
            b"" => id.clone(),
            word => local(word.to_vec()),
        }
    }

    /// Returns the identifier of a FASTA subject in XML.
    fn fasta_id(&self) -> Vec<u8> {
        let ids: Vec<_> = self.chosen_defline().ids.iter().map(|id| self.named_id(id)).collect();
        id::format_id_list(&ids, self.release.text_ranking)
    }

    /// Returns `Hit_id` and `Hit_def` of XML. A stored title is used even if it is empty
    /// (`IsSetTitle` in `CShowBlastDefline::GetBioseqHandleDeflineAndId`, showdefline.cpp).
    pub fn hit_id_and_definition(&self) -> (Vec<u8>, Vec<u8>) {
        if self.is_from_fasta {
            return (self.fasta_id(), defined(self.title()));
        }
        let (mut hit_id, mut definition) = (Vec::new(), Vec::new());
        let mut titled = false;
        for line in &self.deflines {
            if !titled {
                hit_id = id::format_id_list(&line.ids, self.release.text_ranking);
            }
            if !line.has_title {
                continue;
            }
            if titled {
                definition.extend_from_slice(b" >");
                let gi = id::first_gi(&line.ids);
                if gi > 0 {
                    definition.extend_from_slice(format!("gi|{gi}|").as_bytes());
                }
                definition
                    .extend(id::choose_report_id(&line.ids).map_or_else(Vec::new, SeqId::fasta));
                definition.push(b' ');
            }
            definition.extend_from_slice(&line.title);
            titled = true;
        }
        (hit_id, defined(definition))
    }

    /// Returns the entries of the subject in `BlastOutput2`.
    ///
    /// # Errors
    /// If the taxonomy database is damaged.
    pub fn descriptions(
        &self,
        source: &dyn SubjectSource,
    ) -> Result<Vec<Description>, ReportError> {
        if self.is_from_fasta {
            let ids = &self.chosen_defline().ids;
            let chosen = id::choose_text_id(ids, self.release.text_ranking);
            let is_local = matches!(chosen, Some(SeqId::Local(_)));
            return Ok(vec![Description {
                id: self.fasta_id(),
                accession: if is_local { Vec::new() } else { self.accession(ids) },
                title: Some(self.title()),
                ..self.bare_description()
            }]);
        }
        let mut descriptions = Vec::new();
        for line in &self.deflines {
            let taxid = Some(line.taxid).filter(|&taxid| taxid != 0);
            let mut scientific_name = None;
            if let Some(taxid) = taxid.filter(|_| source.has_taxonomy()) {
                let names = source.taxon(taxid);
                let names = names.map_err(|cause| ReportError::Taxonomy { taxid, cause })?;
                let Some(names) = names else {
                    // BLAST+ gives up the list for an unknown taxon, and only names the subject.
                    descriptions.push(self.bare_description());
                    break;
                };
                scientific_name = Some(names.scientific_name);
            }
            descriptions.push(Description {
                id: id::format_id_list(&line.ids, self.release.text_ranking),
                accession: self.accession(&line.ids),
                title: line.has_title.then(|| line.title.clone()),
                taxid,
                scientific_name,
            });
        }
        Ok(descriptions)
    }

    /// Returns an entry that has only the best identifier of the chosen definition line.
    fn bare_description(&self) -> Description {
        let id = id::choose_best_id(&self.chosen_defline().ids);
        let id = id.map_or_else(Vec::new, SeqId::fasta);
        Description { id, accession: Vec::new(), title: None, taxid: None, scientific_name: None }
    }

    /// Returns the subject's name in SAM.
    pub fn sam_name(&self) -> Vec<u8> {
        id::choose_sam_id(&self.chosen_defline().ids, self.release.text_ranking)
            .map_or_else(Vec::new, SeqId::accession_version)
    }

    /// Returns the subject's `Hit_accession` in XML.
    pub fn hit_accession(&self) -> Vec<u8> {
        self.accession(&self.chosen_defline().ids)
    }

    /// Returns the accession of the identifier with the lowest text score, as XML and JSON print
    /// it.
    fn accession(&self, ids: &[SeqId]) -> Vec<u8> {
        let chosen = id::choose_text_id(ids, self.release.text_ranking);
        chosen.map_or_else(Vec::new, |id| id_label(id, false))
    }

    /// Returns the ranking by which BLAST+ chooses one of several identifiers.
    pub fn text_ranking(&self) -> TextRanking {
        self.release.text_ranking
    }
}

/// Whether the report shows the generated title of a subject or a word of this title.
fn needs_organism(setup: &ReportSetup, lines: &[Defline]) -> bool {
    match setup.output.format {
        Format::Pairwise | Format::Anchored(_) | Format::Organisms => true,
        Format::Xml | Format::Output2(_) | Format::Sam(_) => false,
        _ => lines.iter().flat_map(|line| &line.ids).any(is_bare_number),
    }
}

/// Returns the scientific name of a subject's taxon: empty if the taxon has no names, `None` if
/// there is no taxid. The taxid comes from the chosen definition line, or else from the first line
/// with a taxid (`CSeqDBVol::x_GetTaxonomy`, seqdbvol.cpp).
fn organism(
    source: &dyn SubjectSource,
    lines: &[Defline],
    chosen: usize,
) -> Result<Option<Vec<u8>>, ReportError> {
    let mut taxids = lines[chosen..=chosen].iter().chain(lines).map(|line| line.taxid);
    let Some(taxid) = taxids.find(|&taxid| taxid > 0) else { return Ok(None) };
    let names = source.taxon(taxid).map_err(|cause| ReportError::Taxonomy { taxid, cause })?;
    Ok(Some(names.map(|names| names.scientific_name).unwrap_or_default()))
}

/// Returns for each definition line whether reports show it. They hide lines only if the search is
/// restricted to a list of sequences (`is_listed`).
///
/// If any line has a gi, reports show the lines with a gi. Otherwise they show the lines with an
/// accession or a PDB chain. If no line qualifies, they show all lines
/// (`GetFilteredRedundantSeqids`, blast_seqinfosrc_aux.cpp).
fn lines_to_show(lines: &[Defline], is_listed: bool) -> Vec<bool> {
    let all = vec![true; lines.len()];
    if !is_listed {
        return all;
    }
    let has_gi = |line: &Defline| id::first_gi(&line.ids) > 0;
    let is_known = |line: &Defline| match id::choose_report_id(&line.ids) {
        Some(SeqId::Text { accession, .. }) => !accession.is_empty(),
        Some(SeqId::Pdb { .. }) => true,
        _ => false,
    };
    let shown: Vec<bool> = match lines.iter().any(has_gi) {
        true => lines.iter().map(has_gi).collect(),
        false => lines.iter().map(is_known).collect(),
    };
    if shown.contains(&true) { shown } else { all }
}

/// Whether the identifier only numbers the sequence. Reports do not show such identifiers.
pub fn is_bare_number(id: &SeqId) -> bool {
    id.is_ordinal() || matches!(id, SeqId::Local(text) if text.text().starts_with(b"Subject_"))
}

fn local(text: Vec<u8>) -> SeqId {
    SeqId::Local(ObjectId::Text(text))
}

/// Returns `word` as a local identifier if `id` is local and `word` is not empty; else `id`.
fn if_local(id: &SeqId, word: &[u8]) -> SeqId {
    match id {
        SeqId::Local(_) if !word.is_empty() => local(word.to_vec()),
        id => id.clone(),
    }
}

/// Returns the tag of a general identifier, unless it is empty, and the accession of any other
/// identifier (`CAlignFormatUtil::GetLabel`).
pub fn id_label(id: &SeqId, with_version: bool) -> Vec<u8> {
    match id {
        SeqId::General { tag, .. } if !tag.text().is_empty() => tag.text(),
        id if with_version => id.accession_version(),
        id => id.accession(),
    }
}
