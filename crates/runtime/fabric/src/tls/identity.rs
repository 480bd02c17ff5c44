//! The keys by which the nodes of a job recognize each other in TLS handshakes.
//!
//! Each node has an Ed25519 key pair, derived from the job's secret and the node's number. So every node
//! knows the public keys of all others, and no certificate is needed: the nodes send raw public keys (RFC
//! 7250), and each compares what it is sent with the one key that it expects.

use crate::node::NodeId;
use evenkeel_secret::JobSecret;
use ring::signature::{Ed25519KeyPair, KeyPair};
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256};
use rustls::crypto::ring::{default_provider, kx_group, sign};
use rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};
use std::sync::Arc;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// What precedes the 32 bytes of an Ed25519 key in PKCS #8, and in a SubjectPublicKeyInfo (RFC 8410).
const PKCS8_HEAD: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
const PUBLIC_HEAD: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// What this node needs for TLS handshakes.
pub(super) struct Identity {
    secret: JobSecret,
    provider: Arc<CryptoProvider>,
    own: Arc<CertifiedKey>,
    checks_peers: bool,
}

impl Identity {
    pub fn new(secret: &JobSecret, node: NodeId) -> Result<Identity, Error> {
        let provider = CryptoProvider {
            cipher_suites: vec![TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256],
            kx_groups: vec![kx_group::X25519],
            ..default_provider()
        };
        let seed = node_seed(secret, node);
        let pkcs8 = Zeroizing::new([&PKCS8_HEAD[..], &seed[..]].concat());
        let key = sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(&pkcs8[..]))?;
        let public = CertificateDer::from(public_key(secret, node)?);
        let own = Arc::new(CertifiedKey::new(vec![public], key));
        Ok(Identity { secret: secret.clone(), provider: Arc::new(provider), own, checks_peers: true })
    }

    /// The same without comparing the peers' keys, for tests that show what the comparison is good for.
    #[cfg(test)]
    pub fn without_checks(self) -> Identity {
        Identity { checks_peers: false, ..self }
    }

    /// The same with other cipher suites, for tests.
    #[cfg(test)]
    pub fn with_suites(self, cipher_suites: Vec<rustls::SupportedCipherSuite>) -> Identity {
        let provider = CryptoProvider { cipher_suites, ..(*self.provider).clone() };
        Identity { provider: Arc::new(provider), ..self }
    }

    fn expect(&self, node: NodeId) -> Result<Arc<ExpectedKey>, Error> {
        Ok(Arc::new(ExpectedKey {
            public: public_key(&self.secret, node)?,
            provider: Arc::clone(&self.provider),
            is_checked: self.checks_peers,
        }))
    }

    /// The settings of a connection that this node makes to another.
    pub fn client(&self, to: NodeId) -> Result<Arc<ClientConfig>, Error> {
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(self.expect(to)?)
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(Arc::clone(
                &self.own,
            ))));
        // A resumed session would skip the comparison of keys.
        config.resumption = Resumption::disabled();
        config.enable_sni = false;
        Ok(Arc::new(config))
    }

    /// The settings of a connection that another node has made to this one.
    pub fn server(&self, from: NodeId) -> Result<Arc<ServerConfig>, Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(self.expect(from)?)
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::clone(&self.own))));
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        config.max_early_data_size = 0;
        Ok(Arc::new(config))
    }
}

fn node_seed(secret: &JobSecret, node: NodeId) -> Zeroizing<[u8; 32]> {
    Zeroizing::new(secret.derive("evenkeel node key", node.0))
}

/// A node's public key, as it is sent in a handshake.
fn public_key(secret: &JobSecret, node: NodeId) -> Result<Vec<u8>, Error> {
    let pair = Ed25519KeyPair::from_seed_unchecked(&node_seed(secret, node)[..])
        .map_err(|_| Error::General("a seed is no key".into()))?;
    Ok([&PUBLIC_HEAD[..], pair.public_key().as_ref()].concat())
}

/// Accepts one key and no other.
#[derive(Debug)]
struct ExpectedKey {
    public: Vec<u8>,
    provider: Arc<CryptoProvider>,
    /// False only in tests.
    is_checked: bool,
}

impl ExpectedKey {
    fn check(&self, sent: &CertificateDer, others: &[CertificateDer]) -> Result<(), Error> {
        let is_expected = bool::from(sent.as_ref().ct_eq(&self.public)) && others.is_empty();
        if is_expected || !self.is_checked {
            Ok(())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn check_signature(
        &self,
        message: &[u8],
        key: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &key, signature, algorithms)
    }
}

/// For TLS 1.2, which is not spoken.
fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::General("TLS 1.2 is not spoken".into()))
}

impl ServerCertVerifier for ExpectedKey {
    fn verify_server_cert(
        &self,
        sent: &CertificateDer,
        others: &[CertificateDer],
        _name: &ServerName,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(sent, others).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _key: &CertificateDer,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for ExpectedKey {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        sent: &CertificateDer,
        others: &[CertificateDer],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(sent, others).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _key: &CertificateDer,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
