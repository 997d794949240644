//! Iterates over the keys of a tree in order, and over the values of a key.

use super::page::{Content, Page};
use super::{LmdbFile, NO_PAGE, Table};
use crate::lookup::FileDamage;

/// Position in a traversal of the leaf nodes of a tree, from left to right.
#[derive(Clone, Debug)]
struct Walk<'a> {
    /// The pages from the root down, each with the index of its next node.
    path: Vec<(Page<'a>, usize)>,
    depth: usize,
}

impl<'a> Walk<'a> {
    fn new(env: &LmdbFile<'a>, table: &Table) -> Result<Self, FileDamage> {
        let path = match table.root {
            NO_PAGE => Vec::new(),
            root => vec![(env.page(root)?, 0)],
        };
        Ok(Self { path, depth: usize::from(table.depth) })
    }

    /// Returns the next leaf node: its page, and its index in the page. `left` is the number of
    /// bytes that may still be visited; the call reduces it.
    fn next(
        &mut self,
        env: &LmdbFile<'a>,
        left: &mut usize,
    ) -> Result<Option<(Page<'a>, usize)>, FileDamage> {
        while let Some((page, next)) = self.path.last_mut() {
            let (page, i) = (*page, *next);
            if i == page.count() {
                self.path.pop();
                continue;
            }
            *next += 1;
            let at_leaves = self.path.len() == self.depth;
            if at_leaves && page.is_leaf() {
                return Ok(Some((page, i)));
            }
            if at_leaves || !page.is_branch() {
                return Err(page.damage("a page of another kind was expected"));
            }
            spend(left, env.page_size, &page)?;
            self.path.push((env.page(page.child(i)?)?, 0));
        }
        Ok(None)
    }
}

/// Subtracts the visited bytes from the bytes that may still be visited. In a valid file every byte
/// belongs to one page, and every page of values belongs to one node. So a traversal that visits
/// more bytes than the file has runs in a circle.
fn spend(left: &mut usize, bytes: usize, page: &Page<'_>) -> Result<(), FileDamage> {
    *left = left.checked_sub(bytes).ok_or_else(|| page.damage("pages that lead in circles"))?;
    Ok(())
}

/// The source of the values of one key: a single value, a page or a tree.
#[derive(Clone, Debug)]
enum Source<'a> {
    One(Option<&'a [u8]>),
    SubPage(Page<'a>, usize),
    SubTree(Walk<'a>),
}

/// Iterates over the values of one key, in order. Ends after the first error.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    env: LmdbFile<'a>,
    source: Source<'a>,
    /// Number of bytes that may still be visited.
    left: usize,
}

impl<'a> Values<'a> {
    pub(super) fn none(env: LmdbFile<'a>) -> Self {
        Self { env, source: Source::One(None), left: 0 }
    }

    pub(super) fn of_node(
        env: LmdbFile<'a>,
        table: &Table,
        page: &Page<'a>,
        i: usize,
        mut left: usize,
    ) -> Result<Self, FileDamage> {
        let source = match page.content(i)? {
            Content::Value(value) => Source::One(Some(value)),
            Content::Big(number, length) => Source::One(Some(env.overflow(number, length)?)),
            _ if !table.has_duplicates() => {
                return Err(page.damage("several values where one is allowed"));
            }
            Content::SubPage(page) => {
                spend(&mut left, page.length(), &page)?;
                Source::SubPage(page, 0)
            }
            Content::SubTree(tree) => Source::SubTree(Walk::new(&env, &tree)?),
        };
        Ok(Self { env, source, left })
    }

    fn advance(&mut self) -> Result<Option<&'a [u8]>, FileDamage> {
        match &mut self.source {
            Source::One(value) => Ok(value.take()),
            Source::SubPage(page, next) => {
                if *next == page.count() {
                    return Ok(None);
                }
                *next += 1;
                page.key(*next - 1).map(Some)
            }
            Source::SubTree(walk) => match walk.next(&self.env, &mut self.left)? {
                Some((page, i)) => page.key(i).map(Some),
                None => Ok(None),
            },
        }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Result<&'a [u8], FileDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance().transpose();
        if matches!(next, Some(Err(_))) {
            self.source = Source::One(None);
        }
        next
    }
}

/// A key and one of its values.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// Iterates over the keys of a table with each of their values. Ends after the first error.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    table: Table,
    walk: Walk<'a>,
    key: &'a [u8],
    values: Values<'a>,
}

impl<'a> Entries<'a> {
    pub(super) fn new(env: LmdbFile<'a>, table: &Table) -> Result<Self, FileDamage> {
        let mut values = Values::none(env);
        values.left = env.bytes.len();
        Ok(Self { table: *table, walk: Walk::new(&env, table)?, key: &[], values })
    }

    fn advance(&mut self) -> Result<Option<Pair<'a>>, FileDamage> {
        loop {
            if let Some(value) = self.values.advance()? {
                return Ok(Some((self.key, value)));
            }
            let mut left = self.values.left;
            let env = self.values.env;
            let Some((page, i)) = self.walk.next(&env, &mut left)? else { return Ok(None) };
            self.key = page.key(i)?;
            self.values = Values::of_node(env, &self.table, &page, i, left)?;
        }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Pair<'a>, FileDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance().transpose();
        if matches!(next, Some(Err(_))) {
            self.walk.path.clear();
            self.values.source = Source::One(None);
        }
        next
    }
}
