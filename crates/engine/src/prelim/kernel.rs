//! Which instructions the filters use, chosen at run time.

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// 64 lanes.
    Avx512,
    /// 32 lanes.
    Avx2,
    /// Whatever the compiler makes of plain Rust.
    Portable,
}

impl Kernel {
    /// The best kernel for this CPU.
    pub fn detect() -> Kernel {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512bw") {
                return Kernel::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Kernel::Avx2;
            }
        }
        Kernel::Portable
    }
}
