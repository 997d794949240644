//! TLS 1.3 between two peers that identify each other by the fingerprints of their keys.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConnection, Resumption};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, ServerConnection};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, OtherError,
    PeerIncompatible, ServerConfig, SignatureScheme,
};

use crate::error::LinkError;
use crate::key::{Fingerprint, Key};

/// The name in all certificates, which TLS requires. It has no meaning here.
const NAME: &str = "fleetblast";

/// Error for a peer that presented a certificate with this unknown fingerprint.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the key {0} is not known")]
pub struct UnknownKey(pub Fingerprint);

impl UnknownKey {
    /// Returns the unknown key if it is the cause of a failed handshake.
    pub fn from_error(error: &Error) -> Option<Self> {
        match error {
            Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) => {
                cause.downcast_ref().copied()
            }
            _ => None,
        }
    }
}

/// Verifies a peer by the fingerprint of its certificate, and ignores the contents of the
/// certificate. To prove its key, the peer signs this very handshake, so a recorded handshake is of
/// no use.
#[derive(Debug)]
struct PeerVerifier {
    peers: Vec<Fingerprint>,
    provider: Arc<CryptoProvider>,
}

impl PeerVerifier {
    fn check(&self, certificate: &CertificateDer) -> Result<(), Error> {
        let key = Fingerprint::from_certificate(certificate);
        match self.peers.contains(&key) {
            true => Ok(()),
            false => {
                let cause = OtherError(Arc::new(UnknownKey(key)));
                Err(Error::InvalidCertificate(CertificateError::Other(cause)))
            }
        }
    }

    fn verify(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let schemes = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, schemes)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Returns the error that refuses TLS 1.2.
fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(PeerIncompatible::Tls12NotOffered.into())
}

impl ServerCertVerifier for PeerVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

impl ClientCertVerifier for PeerVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

fn unusable(error: &dyn std::fmt::Display) -> LinkError {
    LinkError::Key(format!("the key cannot be used: {error}"))
}

/// Creates the TLS configuration of the side that connects. `peers` are the known fingerprints.
///
/// # Errors
/// A key that cannot be used.
pub fn client_config(key: &Key, peers: &[Fingerprint]) -> Result<Arc<ClientConfig>, LinkError> {
    let provider = Arc::new(ring::default_provider());
    let known = Arc::new(PeerVerifier { peers: peers.to_vec(), provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| unusable(&error))?
        .dangerous()
        .with_custom_certificate_verifier(known)
        .with_client_auth_cert(vec![key.certificate.clone()], key.private.clone_key());
    let mut config = config.map_err(|error| unusable(&error))?;
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// Creates the TLS configuration of the side that listens. `peers` are the known fingerprints.
///
/// # Errors
/// A key that cannot be used.
pub fn server_config(key: &Key, peers: &[Fingerprint]) -> Result<Arc<ServerConfig>, LinkError> {
    let provider = Arc::new(ring::default_provider());
    let known = Arc::new(PeerVerifier { peers: peers.to_vec(), provider: Arc::clone(&provider) });
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| unusable(&error))?
        .with_client_cert_verifier(known)
        .with_single_cert(vec![key.certificate.clone()], key.private.clone_key());
    let mut config = config.map_err(|error| unusable(&error))?;
    // Sessions are not resumed, so both sides prove their keys in every connection.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Starts a TLS connection at the side that connects.
///
/// # Errors
/// The configuration cannot be used.
pub fn client_connection(config: &Arc<ClientConfig>) -> Result<rustls::Connection, LinkError> {
    let name = ServerName::try_from(NAME).map_err(|error| unusable(&error))?;
    let connection = ClientConnection::new(Arc::clone(config), name);
    Ok(connection.map_err(|error| unusable(&error))?.into())
}

/// Starts a TLS connection at the side that listens.
///
/// # Errors
/// The configuration cannot be used.
pub fn server_connection(config: &Arc<ServerConfig>) -> Result<rustls::Connection, LinkError> {
    let connection = ServerConnection::new(Arc::clone(config));
    Ok(connection.map_err(|error| unusable(&error))?.into())
}
