//! One question to a server and its answer, through redirects that are allowed. Knows nothing of files.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Body, Error};

use super::proxy::ProxySettings;
use super::{AcquireError, Address};
use crate::acquire::RedirectError;

/// How often a server may send us on.
const MAX_REDIRECTS: usize = 5;

/// The longest silence of a server, also of one that does not answer a connection.
const MAX_SILENCE: Duration = Duration::from_secs(30);

/// The largest head of an answer, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// The longest validator that is sent back, in bytes.
const MAX_VALIDATOR: usize = 256;

/// Asks servers.
pub(super) struct Client {
    agent: Agent,
    proxy: ProxySettings,
}

/// An address to ask, and where it may send us.
pub(super) struct Source<'a> {
    pub(super) client: &'a Client,
    pub(super) address: &'a Address,
    pub(super) allowed: &'a dyn Fn(&Address) -> bool,
}

/// The rest of a body, as long as it is still the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rest {
    /// How many bytes are there already.
    pub(super) from: u64,
    /// What the server said identifies the body.
    pub(super) validator: String,
}

/// An answer that has a body.
pub(super) struct Answer {
    /// Where in the whole body this one begins: 0 unless the rest was asked for and given.
    pub(super) from: u64,
    /// The size of the whole body, if the server says.
    pub(super) total: Option<u64>,
    /// What identifies the body, if the server says.
    pub(super) validator: Option<String>,
    pub(super) body: Box<dyn Read>,
}

impl Client {
    pub(super) fn new(roots: Vec<Certificate<'static>>, proxy: ProxySettings) -> Self {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .root_certs(RootCerts::new_with_certs(&roots))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .https_only(true)
            .http_status_as_error(false)
            // Each step is checked before it is taken, so none is taken here.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent(concat!("runtime/", env!("CARGO_PKG_VERSION")))
            // The bytes as they are: what is hashed is what was sent.
            .accept_encoding("identity")
            .timeout_connect(Some(MAX_SILENCE))
            .timeout_per_read(Some(MAX_SILENCE))
            .timeout_per_write(Some(MAX_SILENCE))
            .max_response_header_size(MAX_HEAD)
            .build();
        Self { agent: config.new_agent(), proxy }
    }

    fn ask(&self, address: &Address, rest: Option<&Rest>, deadline: Instant) -> Result<Response<Body>, AcquireError> {
        let proxy = self.proxy.of(address).map(ureq::Proxy::new).transpose();
        let proxy = proxy.map_err(|_| AcquireError::Proxy { reason: "its address is not one of an HTTP proxy".to_owned() })?;
        let mut request = self.agent.get(address.as_str());
        if let Some(rest) = rest {
            request = request.header(header::RANGE, format!("bytes={}-", rest.from)).header(header::IF_RANGE, &rest.validator);
        }
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let request = request.config().proxy(proxy).timeout_global(Some(left)).build();
        request.call().map_err(|error| explain(error, address))
    }
}

impl Source<'_> {
    /// Asks for the body, or for the rest of it.
    pub(super) fn ask(&self, rest: Option<&Rest>, deadline: Instant) -> Result<Answer, AcquireError> {
        let mut address = self.address.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.client.ask(&address, rest, deadline)?;
            match next(&response) {
                Some(location) => address = self.follow(&address, &location)?,
                None => return answer(response, rest),
            }
        }
        Err(AcquireError::Redirect { to: address.shown(), reason: RedirectError::TooMany { limit: MAX_REDIRECTS } })
    }

    fn follow(&self, from: &Address, location: &str) -> Result<Address, AcquireError> {
        let refuse = |to: String, reason| AcquireError::Redirect { to, reason };
        let to = from.join(location).map_err(|reason| {
            let without_query = location.split(['?', '#']).next().unwrap_or_default();
            refuse(without_query.chars().take(200).collect(), RedirectError::NotAnAddress { reason })
        })?;
        if (self.allowed)(&to) {
            return Ok(to);
        }
        Err(refuse(to.shown(), RedirectError::NotAllowed { prefix: to.suggested_prefix() }))
    }
}

/// Where an answer sends us.
fn next(response: &Response<Body>) -> Option<String> {
    let sends_on = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = text(response.headers(), header::LOCATION).filter(|_| sends_on)?;
    Some(location.to_owned())
}

fn answer(response: Response<Body>, rest: Option<&Rest>) -> Result<Answer, AcquireError> {
    let headers = response.headers();
    let length = response.body().content_length();
    let (from, total) = match (response.status(), rest) {
        (StatusCode::OK, _) => (0, length),
        (StatusCode::PARTIAL_CONTENT, Some(rest)) => match text(headers, header::CONTENT_RANGE).and_then(range) {
            Some((from, total)) if from == rest.from => (from, total),
            // Not what was asked for, and nothing that could be put together with what is there.
            _ => return Err(AcquireError::Status { status: 206 }),
        },
        (status, _) => return Err(AcquireError::Status { status: status.as_u16() }),
    };
    let validator = validator(headers);
    Ok(Answer { from, total, validator, body: Box::new(response.into_body().into_reader()) })
}

/// `bytes 5-9/10`: where it begins, and the size of the whole.
fn range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (from, _) = range.split_once('-')?;
    Some((from.trim().parse().ok()?, total.trim().parse().ok()))
}

/// A strong tag, else the time of the last change: what `If-Range` takes.
fn validator(headers: &HeaderMap) -> Option<String> {
    let tag = text(headers, header::ETAG).filter(|tag| tag.starts_with('"'));
    let found = tag.or_else(|| text(headers, header::LAST_MODIFIED))?;
    (found.len() <= MAX_VALIDATOR).then(|| found.to_owned())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// What went wrong, in our words where they say more.
fn explain(error: Error, address: &Address) -> AcquireError {
    let host = address.host();
    match error {
        Error::Timeout(_) => AcquireError::Unreachable { host, reason: "it does not answer".to_owned() },
        Error::HostNotFound => AcquireError::Unreachable { host, reason: "there is no host of this name".to_owned() },
        Error::Rustls(error) => AcquireError::Tls { host, reason: error.to_string() },
        Error::Tls(reason) => AcquireError::Tls { host, reason: reason.to_owned() },
        Error::ConnectProxyFailed(reason) => AcquireError::Proxy { reason },
        Error::InvalidProxyUrl => AcquireError::Proxy { reason: "its address is not one of an HTTP proxy".to_owned() },
        Error::BadUri(_) | Error::Http(_) => AcquireError::NotAnAddress { reason: "no request can be made for it".to_owned() },
        Error::Io(error) => explain_io(&error, host),
        other => AcquireError::Unreachable { host, reason: other.to_string() },
    }
}

fn explain_io(error: &io::Error, host: String) -> AcquireError {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(error) => AcquireError::Tls { host, reason: error.to_string() },
        None => AcquireError::Unreachable { host, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_validators_are_read_strictly() {
        assert_eq!(range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(range("bytes 5-9/*"), Some((5, None)));
        for bad in ["", "bytes */10", "items 5-9/10", "bytes -9/10", "bytes 5/10"] {
            assert_eq!(range(bad), None, "{bad}");
        }
        let of = |pairs: &[(header::HeaderName, &str)]| {
            validator(&pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect())
        };
        assert_eq!(of(&[(header::ETAG, "\"a\""), (header::LAST_MODIFIED, "then")]).as_deref(), Some("\"a\""));
        assert_eq!(of(&[(header::ETAG, "W/\"a\""), (header::LAST_MODIFIED, "then")]).as_deref(), Some("then"));
        assert_eq!(of(&[(header::ETAG, "W/\"a\"")]), None, "a weak tag does not say that the bytes are the same");
    }
}
