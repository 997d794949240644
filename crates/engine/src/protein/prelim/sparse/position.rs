//! Numbers of query positions.

use std::fmt::Debug;

/// A position in the concatenated contexts of a group. Two bytes suffice for nearly all groups.
/// Then the look-up table and the seeds take half as much of the cache.
pub(super) trait Position: Copy + Debug + Default {
    /// Number of different positions.
    const COUNT: usize;

    /// Creates the position with this number.
    fn new(position: u32) -> Self;

    /// Returns the number of the position.
    fn number(self) -> u32;

    /// Returns the number of the diagonal of a position and a subject offset. The table of
    /// diagonals has this mask and at most [`Position::COUNT`] diagonals.
    fn diagonal(self, offset: u32, mask: u32) -> Self;
}

macro_rules! position {
    ($number:ty) => {
        impl Position for $number {
            const COUNT: usize = 1 << <$number>::BITS;

            #[inline]
            fn new(position: u32) -> Self {
                position as $number
            }

            #[inline]
            fn number(self) -> u32 {
                self.into()
            }

            #[inline]
            fn diagonal(self, offset: u32, mask: u32) -> Self {
                self.wrapping_sub(offset as $number) & mask as $number
            }
        }
    };
}

position!(u16);
position!(u32);
