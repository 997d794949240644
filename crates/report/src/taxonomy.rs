//! Formats the columns that show a subject's taxa (`x_SetTaxInfo`, `x_SetTaxInfoAll`, tabular.cpp).

use std::collections::BTreeSet;

use fleetblast_db::TaxonNames;

use crate::columns::{Column, Columns};
use crate::error::ReportError;
use crate::model::SubjectSource;
use crate::names::SubjectNames;

use Column as C;

const NOT_AVAILABLE: &[u8] = b"N/A";
/// Names of groups that mean that a taxon has no group.
const NO_GROUPS: [&[u8]; 2] = [b"-", b"unclassified"];

/// The values of a subject's taxonomy columns.
#[derive(Debug, Default)]
pub struct Taxonomy {
    /// The taxid of the first definition line that has a taxid.
    one: Option<i64>,
    /// The names of the taxon `one`, if a column shows them and the taxon has names.
    of_one: Option<TaxonNames>,
    /// Whether the taxon `one` is unknown while a column shows taxids. Its names are then printed
    /// as `N/A`.
    is_filled: bool,
    /// The taxids of all definition lines, if a column shows them or their names.
    all: BTreeSet<i64>,
    /// The scientific names of the taxa `all`, in the order of their taxids. A taxon without names
    /// has the entry `N/A` if a column shows taxids, and no entry otherwise.
    scientific: Vec<Vec<u8>>,
    common: Vec<Vec<u8>>,
    /// The names of the BLAST groups of the taxa `all`, without duplicates, in byte order.
    blast: BTreeSet<Vec<u8>>,
    kingdoms: BTreeSet<Vec<u8>>,
}

impl Taxonomy {
    /// Looks up a subject's values for the taxonomy columns among `columns`.
    ///
    /// # Errors
    /// If the taxonomy database is damaged.
    pub fn read(
        subject: &SubjectNames,
        source: &dyn SubjectSource,
        columns: &Columns,
    ) -> Result<Self, ReportError> {
        let mut taxonomy = Self::default();
        if subject.is_from_fasta {
            return Ok(taxonomy);
        }
        let names =
            |taxid| source.taxon(taxid).map_err(|cause| ReportError::Taxonomy { taxid, cause });
        taxonomy.one = subject.deflines.iter().map(|line| line.taxid).find(|&taxid| taxid != 0);
        if let Some(taxid) = taxonomy.one.filter(|_| columns.list.iter().any(Column::is_taxon_name))
        {
            taxonomy.of_one = names(taxid)?;
            taxonomy.is_filled = taxonomy.of_one.is_none() && columns.list.contains(&C::TaxIds);
        }
        let lists_names = columns.list.iter().any(Column::is_list_of_taxon_names);
        let lists_taxa = lists_names || columns.list.contains(&C::TaxIds);
        for line in subject.deflines.iter().filter(|_| lists_taxa) {
            let mut own: BTreeSet<i64> = line.links.iter().copied().collect();
            own.insert(line.taxid);
            if own.len() > 1 {
                own.remove(&0);
            }
            taxonomy.all.append(&mut own);
        }
        if lists_names {
            let numbered = columns.list.contains(&C::TaxIds);
            for taxid in taxonomy.all.clone() {
                match names(taxid)? {
                    Some(names) => taxonomy.add(names),
                    None if numbered => taxonomy.skip(),
                    None => {}
                }
            }
        }
        Ok(taxonomy)
    }

    fn add(&mut self, names: TaxonNames) {
        let TaxonNames {
            scientific_name: scientific,
            common_name: common,
            blast_name: blast,
            kingdom,
        } = names;
        self.scientific.push(scientific);
        self.common.push(common);
        self.blast.extend(is_group(&blast).then_some(blast));
        self.kingdoms.extend(is_group(&kingdom).then_some(kingdom));
    }

    fn skip(&mut self) {
        self.scientific.push(NOT_AVAILABLE.to_vec());
        self.common.push(NOT_AVAILABLE.to_vec());
    }

    /// Appends a taxonomy column; appends nothing for other columns. `quoted` puts names in quotes,
    /// but a missing name only in columns that list all taxa.
    pub fn field(&self, column: Column, quoted: bool, out: &mut Vec<u8>) {
        let number = |taxid: &i64| taxid.to_string().into_bytes();
        let name = |pick: fn(&TaxonNames) -> &Vec<u8>| {
            let name = self.of_one.as_ref().map(pick);
            name.filter(|name| !name.is_empty()).cloned().into_iter().collect::<Vec<_>>()
        };
        let group = |pick| name(pick).into_iter().filter(|name| is_group(name)).collect();
        let items: Vec<Vec<u8>> = match column {
            C::TaxId => self.one.iter().map(number).collect(),
            C::ScientificName => name(|names| &names.scientific_name),
            C::CommonName => name(|names| &names.common_name),
            C::BlastName => group(|names| &names.blast_name),
            C::SuperKingdom => group(|names| &names.kingdom),
            C::TaxIds => self.all.iter().map(number).collect(),
            C::ScientificNames => self.scientific.clone(),
            C::CommonNames => self.common.clone(),
            C::BlastNames => self.blast.iter().cloned().collect(),
            C::SuperKingdoms => self.kingdoms.iter().cloned().collect(),
            _ => return,
        };
        let lists = matches!(column, C::ScientificNames | C::CommonNames | C::BlastNames);
        let is_name = match column {
            C::ScientificName | C::CommonName => !items.is_empty() || self.is_filled,
            C::BlastName => !items.is_empty(),
            _ => false,
        };
        let text = match items.is_empty() {
            true => NOT_AVAILABLE.to_vec(),
            false => items.join(&b';'),
        };
        match quoted && (lists || is_name) {
            true => append_quoted(&text, out),
            false => out.extend(text),
        }
    }
}

/// Appends a text in quotes, unless it is empty. Quotes and backslashes in the text get a
/// backslash
/// (`NStr::Quote`, ncbistr.cpp).
fn append_quoted(text: &[u8], out: &mut Vec<u8>) {
    if text.is_empty() {
        return;
    }
    out.push(b'"');
    for &byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn is_group(name: &[u8]) -> bool {
    !NO_GROUPS.contains(&name)
}
