//! Whom to trust: the system's certificates (or those that SSL_CERT_FILE and SSL_CERT_DIR name), and those of `--ca-file`.

use std::io::Read as _;
use std::path::Path;

use ureq::tls::{Certificate, PemItem, parse_pem};

use super::AcquireError;

/// The largest file of certificates.
const MAX_FILE: u64 = 16 << 20;

/// Every certificate that may vouch for a server.
pub(super) fn roots(ca_file: Option<&Path>) -> Result<Vec<Certificate<'static>>, AcquireError> {
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        tracing::debug!(%error, "certificates of the system were not read");
    }
    let mut roots: Vec<_> = system.certs.iter().map(|found| Certificate::from_der(found.as_ref()).to_owned()).collect();
    if let Some(path) = ca_file {
        roots.extend(of_file(path)?);
    }
    Ok(roots)
}

fn of_file(path: &Path) -> Result<Vec<Certificate<'static>>, AcquireError> {
    let failed = |reason: String| AcquireError::Certificates { path: path.to_owned(), reason };
    let text = read(path).map_err(|error| failed(error.kind().to_string()))?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(failed("it is damaged".to_owned())),
        }
    }
    if found.is_empty() { Err(failed("there are none in PEM form in it".to_owned())) } else { Ok(found) }
}

#[expect(clippy::disallowed_methods, reason = "a file that the command line names")]
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    std::fs::File::open(path)?.take(MAX_FILE).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        assert!(roots(Some(&path)).unwrap_err().to_string().contains("not found"));
        std::fs::write(&path, "no certificates").unwrap();
        assert!(roots(Some(&path)).unwrap_err().to_string().contains("none in PEM form"));
    }
}
