//! Taxa with their descendants, for options that name taxa.

use fleetblast_db::{SearchPath, TaxonTree};
use fleetblast_job::error::Error;

/// BLAST+'s message if the taxonomy of descendants is not installed.
const NOT_INSTALLED: &str = "The -taxids command line option requires additional data files. \
     Please see the section 'Taxonomic filtering for BLAST databases' in \
     https://www.ncbi.nlm.nih.gov/books/NBK569839/ for details.";

/// Finds the taxonomy on the search path. Without one, adds BLAST+'s message to `warnings` and
/// returns `None`.
///
/// # Errors
/// A damaged file.
pub(crate) fn find_tree(
    search: &SearchPath,
    warnings: &mut Vec<String>,
) -> Result<Option<TaxonTree>, Error> {
    let tree = TaxonTree::find_on_search_path(search)?;
    warnings.extend(tree.is_none().then(|| NOT_INSTALLED.to_owned()));
    Ok(tree)
}
