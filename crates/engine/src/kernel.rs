//! The vector instructions in use, chosen at run time.
//!
//! A value of [`Avx512`], [`Avx2`] or [`Neon`] is proof that this CPU has the instructions, since
//! only detection creates one. Functions that need them take such a value, so that safe code cannot
//! run them elsewhere.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Proof of AVX-512BW: 64 bytes a register. Also proof of POPCNT, LZCNT, BMI1 and BMI2, which all
/// such CPUs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512(());

/// Proof of AVX2: 32 bytes a register. Also proof of POPCNT, LZCNT, BMI1 and BMI2, which all such
/// CPUs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

/// Proof of NEON: 16 bytes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neon(());

impl Avx512 {
    /// Returns proof of AVX-512BW if this CPU has the instructions.
    pub fn detect() -> Option<Avx512> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512bw") && counts_bits() {
            return Some(Avx512(()));
        }
        None
    }
}

impl Avx2 {
    /// Returns proof of AVX2 if this CPU has the instructions.
    pub fn detect() -> Option<Avx2> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && counts_bits() {
            return Some(Avx2(()));
        }
        None
    }
}

impl Neon {
    /// Returns proof of NEON on 64-bit Arm CPUs, which all have it, and `None` on other CPUs.
    pub fn detect() -> Option<Neon> {
        cfg!(target_arch = "aarch64").then_some(Neon(()))
    }
}

/// Returns whether this CPU has the instructions POPCNT and LZCNT and the sets BMI1 and BMI2.
#[cfg(target_arch = "x86_64")]
fn counts_bits() -> bool {
    is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

impl From<Avx512> for Avx2 {
    /// Converts proof of AVX-512 to proof of AVX2, which AVX-512 includes.
    fn from(_: Avx512) -> Avx2 {
        Avx2(())
    }
}

/// A set of vector instructions in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// AVX-512BW.
    Avx512(Avx512),
    /// AVX2.
    Avx2(Avx2),
    /// NEON.
    Neon(Neon),
    /// Plain Rust, vectorised as the compiler can.
    Portable,
}

impl Kernel {
    /// Returns all kernels that this CPU supports, the best first.
    pub fn available() -> impl Iterator<Item = Kernel> {
        let vectors = [
            Avx512::detect().map(Kernel::Avx512),
            Avx2::detect().map(Kernel::Avx2),
            Neon::detect().map(Kernel::Neon),
        ];
        vectors.into_iter().flatten().chain([Kernel::Portable])
    }

    /// Returns the best kernel that this CPU supports.
    pub fn detect() -> Kernel {
        Kernel::available().next().unwrap_or(Kernel::Portable)
    }

    /// Returns the kernel with this name, if this CPU has the instructions.
    pub fn from_name(name: &str) -> Option<Kernel> {
        Kernel::available().find(|kernel| kernel.name() == name)
    }

    /// Returns proof of AVX2 if this kernel includes it, for code that gains nothing from wider
    /// registers.
    pub fn avx2(self) -> Option<Avx2> {
        match self {
            Kernel::Avx512(proof) => Some(proof.into()),
            Kernel::Avx2(proof) => Some(proof),
            Kernel::Neon(_) | Kernel::Portable => None,
        }
    }

    /// Returns the name that [`Kernel::from_name`] accepts.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Avx512(_) => "avx512",
            Kernel::Avx2(_) => "avx2",
            Kernel::Neon(_) => "neon",
            Kernel::Portable => "portable",
        }
    }
}

impl Serialize for Kernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Reading a kernel by its name fails if this CPU lacks the instructions.
impl<'de> Deserialize<'de> for Kernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kernel, D::Error> {
        let name = String::deserialize(deserializer)?;
        Kernel::from_name(&name).ok_or_else(|| D::Error::custom(format!("the CPU lacks {name}")))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Prints the names of the kernels that this CPU lacks. The other tests skip these kernels.
    #[test]
    fn kernels_that_the_cpu_lacks_are_named() {
        #[cfg(target_arch = "x86_64")]
        let conflicts = is_x86_feature_detected!("avx512cd");
        #[cfg(not(target_arch = "x86_64"))]
        let conflicts = false;
        let kernels = [
            ("avx512", Kernel::from_name("avx512").is_some()),
            ("avx512cd", conflicts),
            ("avx2", Kernel::from_name("avx2").is_some()),
            ("neon", Kernel::from_name("neon").is_some()),
        ];
        for (name, _) in kernels.into_iter().filter(|(_, is_here)| !is_here) {
            let line = format!("NOT TESTED: {name} kernels (the CPU lacks them)\n");
            // `eprintln!` would not do: the test harness captures its output.
            std::io::stderr().write_all(line.as_bytes()).expect("standard error");
        }
    }
}
