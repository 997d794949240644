//! Which vector instructions are used, chosen at run time.

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
    /// The kernel of this name, if this CPU has the instructions.
    pub fn named(name: &str) -> Option<Kernel> {
        let best = Kernel::detect();
        match name {
            "avx512" => (best == Kernel::Avx512).then_some(Kernel::Avx512),
            "avx2" => (best != Kernel::Portable).then_some(Kernel::Avx2),
            "portable" => Some(Kernel::Portable),
            _ => None,
        }
    }

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
