//! Opens a database by name, or from the bytes of its files.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::counted::CountedTotals;
use crate::cursor::{OidLimits, RetrievableOids};
use crate::database::{CombinedInfo, DatabaseParts, first_oids};
use crate::defline_filter::DeflineFilter;
use crate::lookup::verify_lmdb_volumes;
use crate::path::{self, BasePath};
use crate::restrict::{self, Inclusion, ListWarning, Restriction};
use crate::totals::{self, VolumeSource};
use crate::tree::AliasNode;
use crate::volume::Volume;
use crate::{Database, DatabaseInfo, DbError, SearchPath, SequenceKind, VolumeBytes, date, range};

impl Database {
    /// Opens the databases that `names` lists as `-db` does: separated by blanks, and in double
    /// quotes if a name contains blanks.
    ///
    /// ```no_run
    /// use fleetblast_db::{Database, SearchPath, SequenceKind};
    ///
    /// let search = SearchPath::from_environment()?;
    /// let database = Database::open("swissprot", SequenceKind::Protein, &search)?;
    /// database.validate(0..database.oid_count())?;
    /// println!("{} sequences", database.sequence_count());
    /// # Ok::<(), fleetblast_db::DbError>(())
    /// ```
    ///
    /// # Errors
    /// Those of the oracle for names, aliases and versions; [`DbError::FileTruncated`] for
    /// truncated files.
    pub fn open(names: &str, kind: SequenceKind, search: &SearchPath) -> Result<Self, DbError> {
        Self::open_restricted(names, kind, search, None, &mut Vec::new())
    }

    /// Opens the databases and includes only the sequences that the user's list allows. Adds
    /// BLAST+'s warnings to `warnings`.
    ///
    /// # Errors
    /// Those of [`Database::open`], and those of lists that do not fit the database.
    pub fn open_restricted(
        names: &str,
        kind: SequenceKind,
        search: &SearchPath,
        user: Option<&Restriction>,
        warnings: &mut Vec<ListWarning>,
    ) -> Result<Self, DbError> {
        let tree = AliasNode::resolve(names.as_bytes(), kind, search)?;
        let mut pool = Pool { kind, volumes: HashMap::new() };
        let opened = pool.open(&tree)?;
        let part = Part::new(&tree, &opened, user, AliasLists::All, warnings)?;
        let infos = path::split_names(names.as_bytes(), true)
            .into_iter()
            .map(|name| info(name, search, &mut pool))
            .collect::<Result<Vec<_>, _>>()?;
        Self::from_tree(&tree, &opened, infos, part)
    }

    /// Opens the databases to retrieve sequences, as `blastdbcmd` does.
    /// [`Database::database_infos`] then has a single entry for all databases.
    ///
    /// # Errors
    /// Those of [`Database::open_restricted`].
    pub fn open_to_retrieve(
        names: &str,
        kind: SequenceKind,
        search: &SearchPath,
        user: Option<&Restriction>,
    ) -> Result<Self, DbError> {
        Self::open_whole(names, kind, search, user, AliasLists::All)
    }

    /// Opens the databases to describe them. If the aliases state numbers of sequences and
    /// residues, this reads no lists and includes all sequences, unlike
    /// [`Database::open_to_retrieve`].
    ///
    /// # Errors
    /// Those of [`Database::open`].
    pub fn open_to_describe(
        names: &str,
        kind: SequenceKind,
        search: &SearchPath,
    ) -> Result<Self, DbError> {
        Self::open_whole(names, kind, search, None, AliasLists::ForTotals)
    }

    fn open_whole(
        names: &str,
        kind: SequenceKind,
        search: &SearchPath,
        user: Option<&Restriction>,
        lists: AliasLists,
    ) -> Result<Self, DbError> {
        let tree = AliasNode::resolve(names.as_bytes(), kind, search)?;
        let opened = Pool { kind, volumes: HashMap::new() }.open(&tree)?;
        // BLAST+ prints no warnings about lists when it retrieves sequences.
        let part = Part::new(&tree, &opened, user, lists, &mut Vec::new())?;
        let info = DatabaseInfo {
            name: names.into(),
            title: tree.title(&opened),
            date: opened.date().to_owned(),
            sequence_count: part.sequences,
            residue_count: part.residues,
        };
        Self::from_tree(&tree, &opened, vec![info], part)
    }

    fn from_tree(
        tree: &AliasNode,
        opened: &OpenedTree,
        infos: Vec<DatabaseInfo>,
        part: Part,
    ) -> Result<Self, DbError> {
        // All files are open now, but another process may have replaced some of them meanwhile.
        opened.volumes.iter().try_for_each(|(_, volume, _)| volume.verify_paths())?;
        let or_stated = |stats: u64, stated: u64| if stats > 0 { stats } else { stated };
        Self::assemble(DatabaseParts {
            database_infos: infos,
            combined_info: CombinedInfo {
                title: tree.title(opened),
                sequence_count: part.sequences,
                residue_count: part.residues,
                volumes: tree.listed_volumes(),
                aliases: tree.alias_files(),
            },
            date: opened.date().to_owned(),
            stats_sequence_count: or_stated(tree.stats_sequence_count(opened)?, part.sequences),
            stats_residue_count: or_stated(tree.stats_residue_count(opened)?, part.residues),
            counted_length_bounds: part.lengths,
            retrievable: part.retrievable,
            volumes: opened.filter_volumes(part.filter.as_ref()),
            included_oids: part.included,
        })
    }

    /// Creates a database from volumes whose files are already in memory, in this order.
    ///
    /// # Errors
    /// Those of damaged files. Messages call the files of volume n `volume-n.pin` and so on.
    pub fn from_volume_bytes(volumes: Vec<VolumeBytes>) -> Result<Self, DbError> {
        let volumes = volumes
            .into_iter()
            .enumerate()
            .map(|(i, bytes)| Ok(Arc::new(Volume::from_bytes(&format!("volume-{i}"), bytes)?)))
            .collect::<Result<Vec<_>, DbError>>()?;
        let indexes = || volumes.iter().map(|volume| volume.index());
        let info = DatabaseInfo {
            name: Vec::new(),
            title: totals::join_titles(indexes().map(|index| index.title.clone())),
            date: date::latest_date(indexes().map(|index| index.date.as_str())).to_owned(),
            sequence_count: indexes().map(|index| u64::from(index.sequence_count)).sum(),
            residue_count: indexes().fold(0, |sum, index| sum.saturating_add(index.residue_count)),
        };
        Self::from_volumes(volumes, info)
    }

    /// Creates a database from volumes, without aliases.
    pub(crate) fn from_volumes(
        volumes: Vec<Arc<Volume>>,
        info: DatabaseInfo,
    ) -> Result<Self, DbError> {
        let starts = first_oids(volumes.iter().map(Arc::as_ref))?;
        let count = starts[starts.len() - 1];
        let all = 0..count;
        Self::assemble(DatabaseParts {
            volumes,
            included_oids: if count == 0 { Vec::new() } else { vec![all] },
            date: info.date.clone(),
            stats_sequence_count: info.sequence_count,
            counted_length_bounds: None,
            retrievable: RetrievableOids::All,
            stats_residue_count: totals::check_limit(
                "residues",
                info.residue_count,
                i64::MAX as u64,
            )?,
            combined_info: CombinedInfo {
                title: info.title.clone(),
                sequence_count: info.sequence_count,
                residue_count: info.residue_count,
                volumes: Vec::new(),
                aliases: Vec::new(),
            },
            database_infos: vec![info],
        })
    }
}

/// Returns title and totals of one of the names in `-db`. BLAST+ opens each name by itself for this
/// purpose (`CAlignFormatUtil::GetBlastDbInfo`, align_format_util.cpp).
fn info(name: Vec<u8>, search: &SearchPath, pool: &mut Pool) -> Result<DatabaseInfo, DbError> {
    let tree = AliasNode::resolve(&name, pool.kind, search)?;
    let opened = pool.open(&tree)?;
    let title = match tree.title(&opened) {
        none if none.is_empty() => name.clone(),
        title => title,
    };
    let part = Part::new(&tree, &opened, None, AliasLists::ForTotals, &mut Vec::new())?;
    Ok(DatabaseInfo {
        title: title.split(|&b| b == 0).next().unwrap_or_default().to_vec(),
        date: opened.date().to_owned(),
        sequence_count: part.sequences,
        residue_count: part.residues,
        name,
    })
}

/// The lists of an alias tree that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AliasLists {
    /// All lists if BLAST+ must count the sequences for the totals, otherwise none.
    ForTotals,
    /// All lists that include or exclude sequences.
    All,
}

/// Included sequences of the volumes of an alias tree, and their totals.
struct Part {
    included: Vec<Range<u32>>,
    filter: Option<Arc<DeflineFilter>>,
    sequences: u64,
    residues: u64,
    lengths: Option<(u32, u32)>,
    retrievable: RetrievableOids,
}

impl Part {
    fn new(
        tree: &AliasNode,
        opened: &OpenedTree,
        user: Option<&Restriction>,
        lists: AliasLists,
        warnings: &mut Vec<ListWarning>,
    ) -> Result<Self, DbError> {
        let all = 0..opened.count;
        let mut part = Self {
            included: if all.is_empty() { Vec::new() } else { vec![all] },
            filter: None,
            sequences: 0,
            residues: 0,
            lengths: None,
            retrievable: RetrievableOids::All,
        };
        let is_needed = lists == AliasLists::All || restrict::needs_count(tree);
        if is_needed && restrict::has_restriction(tree, user)? {
            let whole = Database::assemble(DatabaseParts {
                volumes: opened.filter_volumes(None),
                included_oids: part.included.clone(),
                database_infos: Vec::new(),
                combined_info: CombinedInfo::default(),
                date: String::new(),
                stats_sequence_count: 0,
                stats_residue_count: 0,
                counted_length_bounds: None,
                retrievable: RetrievableOids::All,
            })?;
            let members: Vec<_> =
                opened.volumes.iter().map(|(base, _, span)| (base, span.clone())).collect();
            part.restrict(restrict::find_included(tree, &members, &whole, user, warnings)?, &whole);
        }
        if part.lengths.is_none() {
            part.sequences = tree.sequence_count(opened)?;
            part.residues = tree.residue_count(opened)?;
        }
        Ok(part)
    }

    /// Restricts the volumes to the included sequences, and counts these if BLAST+ does.
    fn restrict(&mut self, inclusion: Inclusion, whole: &Database) {
        self.filter = inclusion.filter;
        (self.included, self.retrievable) = match inclusion.window {
            Some(window) if !inclusion.needs_count => {
                let searched = range::clip(&inclusion.oids, &window);
                (searched, RetrievableOids::Limited { listed: inclusion.oids, window })
            }
            window => {
                if inclusion.needs_count {
                    let limits = OidLimits::new(whole.oid_count(), window);
                    let counted = CountedTotals::new(whole, &inclusion.oids, limits);
                    self.sequences = counted.sequence_count;
                    self.residues = counted.residue_count;
                    self.lengths = Some(counted.length_bounds);
                }
                (inclusion.oids, RetrievableOids::Included)
            }
        };
    }
}

/// Volumes that are already open, so that each one is opened once.
struct Pool {
    kind: SequenceKind,
    volumes: HashMap<BasePath, Arc<Volume>>,
}

/// Volumes of one alias tree in OID order, each with its OIDs.
struct OpenedTree {
    volumes: Vec<(BasePath, Arc<Volume>, Range<u32>)>,
    count: u32,
}

impl Pool {
    /// Opens the volumes of a tree, and checks that they belong together.
    fn open(&mut self, tree: &AliasNode) -> Result<OpenedTree, DbError> {
        let mut volumes = Vec::new();
        for base in tree.all_volumes() {
            let volume = match self.volumes.get(&base) {
                Some(volume) => volume.clone(),
                None => Arc::new(Volume::open(&base, self.kind)?),
            };
            self.volumes.insert(base.clone(), volume.clone());
            volumes.push((base, volume));
        }
        let five = |volume: &Volume| volume.lmdb_path().is_some();
        if volumes.windows(2).any(|pair| five(&pair[0].1) != five(&pair[1].1)) {
            return Err(DbError::MixedVersions);
        }
        // BLAST+ opens the LMDB file of a version-5 volume even if it does not need the file.
        if let Some(path) = volumes.iter().filter_map(|(_, v)| v.lmdb_path()).find(|p| !p.exists())
        {
            return Err(DbError::MissingLmdb { path });
        }
        let starts = first_oids(volumes.iter().map(|(_, volume)| volume.as_ref()))?;
        let spans = starts.windows(2).map(|pair| pair[0]..pair[1]);
        let volumes: Vec<_> =
            volumes.into_iter().zip(spans).map(|((b, v), span)| (b, v, span)).collect();
        verify_lmdb_volumes(
            volumes.iter().map(|(_, volume, oids)| (volume.as_ref(), oids.clone())),
        )?;
        Ok(OpenedTree { volumes, count: starts[starts.len() - 1] })
    }
}

impl OpenedTree {
    /// Returns the volumes, restricted to the definition lines that the filter includes.
    fn filter_volumes(&self, filter: Option<&Arc<DeflineFilter>>) -> Vec<Arc<Volume>> {
        let volumes = self.volumes.iter().enumerate().map(|(i, (_, volume, _))| match filter {
            Some(filter) => Arc::new(volume.with_filter(filter.clone(), i)),
            None => volume.clone(),
        });
        volumes.collect()
    }

    fn date(&self) -> &str {
        date::latest_date(self.volumes.iter().map(|(_, volume, _)| volume.index().date.as_str()))
    }
}

impl VolumeSource for OpenedTree {
    fn get(&self, base: &BasePath) -> Option<(&Volume, Range<u32>)> {
        let (_, volume, span) = self.volumes.iter().find(|(name, _, _)| name == base)?;
        Some((volume, span.clone()))
    }
}
