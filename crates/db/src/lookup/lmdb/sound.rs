//! Checks a whole LMDB file, including pages that no lookup reads.

use super::page::{Content, Page, fixed_bytes};
use super::{DEEPEST, LmdbFile, Meta, NO_PAGE, Table};
use crate::lookup::FileDamage;

/// Number of meta pages.
const METAS: u64 = 2;

/// Lower and upper bound of the keys of a page. The lower one is included, the upper one is not.
type Bounds<'a> = [Option<&'a [u8]>; 2];

/// The pages that a tree or the list of free pages has claimed.
struct Pages {
    taken: Vec<bool>,
    page_size: usize,
}

impl Pages {
    fn mark(&mut self, number: u64) -> Result<(), FileDamage> {
        let damage = |at, problem| Err(FileDamage { offset: at, problem });
        let Some(index) = usize::try_from(number).ok().filter(|&n| n < self.taken.len()) else {
            return damage(0, "a page number beyond the last page");
        };
        match std::mem::replace(&mut self.taken[index], true) {
            false => Ok(()),
            true => damage(index * self.page_size, "a page that belongs to two things"),
        }
    }
}

impl LmdbFile<'_> {
    /// Checks both meta pages and every page of every tree. Also checks that each page is used once
    /// or free. Ignores contents of free pages, and bytes between nodes.
    ///
    /// # Errors
    /// [`FileDamage`] at the first fault.
    pub fn check_pages(&self) -> Result<(), FileDamage> {
        let metas = [0, self.page_size].map(|at| Meta::read(self.bytes, at));
        let [first, second] = metas;
        let (first, second) = (first?, second?);
        let numbers = [0, self.page_size].map(|at| u64::from_le_bytes(fixed_bytes(self.bytes, at)));
        if numbers != [0, 1] || first.transaction.abs_diff(second.transaction) > 1 {
            return Err(FileDamage {
                offset: 0,
                problem: "two meta pages that do not belong together",
            });
        }
        let newer = if second.transaction > first.transaction { &second } else { &first };
        let pages = usize::try_from(newer.last_page).ok().and_then(|last| last.checked_add(1));
        let needed = pages.and_then(|pages| pages.checked_mul(self.page_size));
        let Some(pages) = pages.filter(|_| needed.is_some_and(|n| n <= self.bytes.len())) else {
            return Err(FileDamage {
                offset: self.bytes.len(),
                problem: "the last pages are missing",
            });
        };
        if first.last_page.min(second.last_page) >= pages as u64 || pages < METAS as usize {
            return Err(FileDamage { offset: 0, problem: "an impossible number of pages" });
        }
        let mut taken = Pages { taken: vec![false; pages], page_size: self.page_size };
        (0..METAS).try_for_each(|number| taken.mark(number))?;
        self.check_trees(newer, &mut taken)?;
        match taken.taken.iter().position(|&is_taken| !is_taken) {
            None => Ok(()),
            Some(number) => Err(FileDamage {
                offset: number * self.page_size,
                problem: "a page that is neither used nor free",
            }),
        }
    }

    /// Checks the trees of all tables. Marks their pages and the free pages in `pages`.
    fn check_trees(&self, meta: &Meta, pages: &mut Pages) -> Result<(), FileDamage> {
        self.check_tree(&meta.main, pages)?;
        for entry in self.entries(&meta.main)? {
            let (_, record) = entry?;
            self.check_tree(&Table::read(record, 0)?, pages)?;
        }
        self.check_tree(&meta.free, pages)?;
        for entry in self.entries(&meta.free)? {
            let (_, list) = entry?;
            let mut numbers =
                list.chunks_exact(8).map(|number| u64::from_le_bytes(fixed_bytes(number, 0)));
            let count = usize::try_from(numbers.next().unwrap_or(0)).unwrap_or(usize::MAX);
            if numbers.len() < count {
                return Err(FileDamage { offset: 0, problem: "a list of free pages cut short" });
            }
            numbers.take(count).try_for_each(|number| pages.mark(number))?;
        }
        Ok(())
    }

    fn check_tree(&self, table: &Table, pages: &mut Pages) -> Result<(), FileDamage> {
        match table.root {
            NO_PAGE => Ok(()),
            root => self.check_page(table, root, 1, [None, None], pages),
        }
    }

    /// Checks a page and all pages below it.
    fn check_page(
        &self,
        table: &Table,
        number: u64,
        level: u16,
        bounds: Bounds<'_>,
        pages: &mut Pages,
    ) -> Result<(), FileDamage> {
        pages.mark(number)?;
        let page = self.page(number)?;
        if page.has_fixed_keys() {
            return (0..page.count()).try_for_each(|i| page.key(i).map(|_| ()));
        }
        let at_leaves = level >= table.depth.min(DEEPEST);
        page.check_keys(table, at_leaves, bounds)?;
        for i in 0..page.count() {
            if at_leaves {
                self.check_content(&page, i, pages)?;
                continue;
            }
            let lower = if i == 0 { bounds[0] } else { Some(page.key(i)?) };
            let upper = if i + 1 < page.count() { Some(page.key(i + 1)?) } else { bounds[1] };
            self.check_page(table, page.child(i)?, level + 1, [lower, upper], pages)?;
        }
        Ok(())
    }

    /// Checks the content of node `i` of a leaf page.
    fn check_content(
        &self,
        page: &Page<'_>,
        i: usize,
        pages: &mut Pages,
    ) -> Result<(), FileDamage> {
        match page.content(i)? {
            Content::Value(_) => Ok(()),
            Content::SubPage(values) => {
                (0..values.count()).try_for_each(|i| values.key(i).map(|_| ()))
            }
            Content::SubTree(table) => self.check_tree(&table, pages),
            Content::Big(first, length) => {
                self.overflow(first, length)?;
                let count = self.page(first)?.overflow_pages().unwrap_or(1) as u64;
                (first..first.saturating_add(count)).try_for_each(|number| pages.mark(number))
            }
        }
    }
}
