//! Records that nobody can read where they wait: metadata for recipients are encrypted one after the other, but ranks write them in any
//! order, to a file that others may read. Until then they are encrypted by a key that only the ranks know, and that ends with the job.

use fleetblast_metadata::records::{Chain, RecordKind};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

use crate::error::Error;

/// Bytes of a key.
pub const KEY: usize = 32;

/// The key of a job.
#[derive(Clone)]
pub struct Veil([u8; KEY]);

impl Veil {
    /// A new one, which nobody else has.
    ///
    /// # Errors
    /// The system has nothing random.
    pub fn new() -> Result<Self, Error> {
        Ok(Veil(random::<KEY>()?))
    }

    /// The one that another rank has told.
    ///
    /// # Errors
    /// Bytes that are none.
    #[cfg(any(feature = "mpi", test))]
    pub fn of(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Veil).map_err(|_| odd())
    }

    /// For the other ranks.
    #[cfg(any(feature = "mpi", test))]
    pub fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }

    fn key(&self) -> Result<LessSafeKey, Error> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.0).map(LessSafeKey::new).map_err(|_| odd())
    }

    /// A body as it waits.
    fn hide(&self, kind: RecordKind, body: &[u8]) -> Result<Vec<u8>, Error> {
        // By chance, since a record may be made twice, and not the same way.
        let nonce = random::<NONCE_LEN>()?;
        let mut hidden = nonce.to_vec();
        hidden.extend_from_slice(body);
        let place = Nonce::assume_unique_for_key(nonce);
        let tag = self.key()?.seal_in_place_separate_tag(
            place,
            Aad::from([kind as u8]),
            &mut hidden[NONCE_LEN..],
        );
        let tag = tag.map_err(|_| Error::engine("a record is too large to be encrypted"))?;
        hidden.extend_from_slice(tag.as_ref());
        Ok(hidden)
    }

    /// A body that waited so.
    ///
    /// # Errors
    /// Bytes that no rank of this job wrote.
    pub fn show(&self, kind: RecordKind, mut hidden: Vec<u8>) -> Result<Vec<u8>, Error> {
        let other = || Error::output("what ranks wrote of metadata is not what is there");
        let (nonce, body) = hidden.split_at_mut_checked(NONCE_LEN).ok_or_else(other)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| other())?;
        let body = self.key()?.open_in_place(nonce, Aad::from([kind as u8]), body);
        Ok(body.map_err(|_| other())?.to_vec())
    }
}

fn odd() -> Error {
    Error::engine("the key of the records that wait is odd")
}

/// Bytes that nobody can foretell.
fn random<const COUNT: usize>() -> Result<[u8; COUNT], Error> {
    let mut bytes = [0; COUNT];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Error::starved("the system has no random numbers"))?;
    Ok(bytes)
}

/// A record as it waits: the first of a chain of its own, since it is not known what the records before it are.
///
/// # Errors
/// The system has nothing random.
pub fn waiting(veil: Option<&Veil>, kind: RecordKind, body: &[u8]) -> Result<Vec<u8>, Error> {
    let hidden = veil.map(|veil| veil.hide(kind, body)).transpose()?;
    Chain::default().record(kind, hidden.as_deref().unwrap_or(body)).map_err(Error::output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_the_key_can_read_what_waits() {
        let veil = Veil::new().unwrap();
        let body = b"the letters of an unpublished query".to_vec();
        let hidden = veil.hide(RecordKind::Block, &body).unwrap();
        assert!(hidden.windows(4).all(|part| part != b"quer"));
        assert_ne!(hidden, veil.hide(RecordKind::Block, &body).unwrap());
        let told = Veil::of(veil.bytes()).unwrap();
        assert_eq!(told.show(RecordKind::Block, hidden.clone()).unwrap(), body);
        let other = Veil::new().unwrap();
        assert!(other.show(RecordKind::Block, hidden.clone()).is_err());
        assert!(veil.show(RecordKind::End, hidden.clone()).is_err());
        for at in 0..hidden.len() {
            let mut changed = hidden.clone();
            changed[at] ^= 1;
            assert!(veil.show(RecordKind::Block, changed).is_err(), "at byte {at}");
            assert!(veil.show(RecordKind::Block, hidden[..at].to_vec()).is_err());
        }
        assert!(Veil::of(&[0; 31]).is_err());
    }
}
