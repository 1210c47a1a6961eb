//! An `https` server on loopback with a certificate of its own, and a proxy to reach it through. Both keep a record of what they were asked.
//!
//! What the server answers is a function of the question, so that a test can break connections off, change a body between two questions, or
//! send a client on.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Path and query.
    pub path: String,
    /// The header `Range`.
    pub range: Option<String>,
    /// The header `If-Range`.
    pub if_range: Option<String>,
    /// How many questions for this path came before it.
    pub earlier: usize,
}

/// One answer.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    promised: Option<u64>,
    cut: Option<usize>,
    pause: Duration,
}

impl Reply {
    /// A whole body.
    pub fn body(body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let promised = Some(body.len() as u64);
        Self { status: 200, headers: Vec::new(), body, promised, cut: None, pause: Duration::ZERO }
    }

    /// A status without a body.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::body("") }
    }

    /// Sends the client on.
    pub fn redirect(to: &str) -> Self {
        Self::status(302).header("Location", to)
    }

    /// The body with a tag, whole or from where `asked` wants it, as long as the tag is the one that was asked about.
    pub fn ranged(body: &[u8], tag: &str, asked: &Asked) -> Self {
        let tag = format!("\"{tag}\"");
        let from = asked.range.as_deref().and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        match from {
            Some(from) if asked.if_range.as_ref() == Some(&tag) && from < body.len() => {
                Self { status: 206, ..Self::body(&body[from..]) }
                    .header("Content-Range", &format!("bytes {from}-{}/{}", body.len() - 1, body.len()))
            }
            _ => Self::body(body),
        }
        .header("ETag", &tag)
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With another length than the body has, or none at all.
    #[must_use]
    pub fn promise(mut self, length: Option<u64>) -> Self {
        self.promised = length;
        self
    }

    /// Broken off after so many bytes of the body, without a word.
    #[must_use]
    pub fn cut(mut self, after: usize) -> Self {
        self.cut = Some(after);
        self
    }

    /// With a pause after each byte.
    #[must_use]
    pub fn slow(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

/// A server that runs as long as the process.
#[derive(Debug)]
pub struct Server {
    port: u16,
    certificate: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Starts a server for `localhost`, `127.0.0.1` and `files.test`.
    ///
    /// # Panics
    /// If there is no port, or no certificate can be made.
    pub fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let names = ["localhost", "127.0.0.1", "files.test"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate can be made");
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has the default versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("certificate and key belong together");
        let (listener, port) = listen();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (config, answer, log) = (Arc::new(config), Arc::new(answer), Arc::clone(&asked));
        each_connection(listener, move |stream| {
            let (config, answer, log) = (Arc::clone(&config), Arc::clone(&answer), Arc::clone(&log));
            // That a client breaks off is no fault of the server.
            let _ = serve(stream, config, answer.as_ref(), &log);
        });
        Self { port, certificate: made.cert.pem(), asked }
    }

    /// An address of this server.
    pub fn address(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its certificate, in PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A proxy that runs as long as the process, and leads every name to loopback.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts a proxy; one that is not `open` refuses everything.
    ///
    /// # Panics
    /// If there is no port.
    pub fn start(open: bool) -> Self {
        let (listener, port) = listen();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        each_connection(listener, move |stream| {
            let _ = forward(stream, open, &log);
        });
        Self { port, asked }
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The hosts and ports that it was asked to connect to.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
    let port = listener.local_addr().expect("a listener has an address").port();
    (listener, port)
}

fn each_connection(listener: TcpListener, handle: impl Fn(TcpStream) + Send + Sync + 'static) {
    let handle = Arc::new(handle);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handle = Arc::clone(&handle);
            std::thread::spawn(move || handle(stream));
        }
    });
}

fn serve(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    answer: &(impl Fn(&Asked) -> Reply + ?Sized),
    log: &Mutex<Vec<Asked>>,
) -> io::Result<()> {
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    let head = head(&mut stream)?;
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let asked = {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = log.iter().filter(|asked| asked.path == path).count();
        let asked = Asked { range: header("range"), if_range: header("if-range"), path, earlier };
        log.push(asked.clone());
        asked
    };
    reply(&mut stream, &answer(&asked))
}

fn reply(stream: &mut StreamOwned<ServerConnection, TcpStream>, reply: &Reply) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Answer\r\nConnection: close\r\n", reply.status);
    if let Some(length) = reply.promised {
        head += &format!("Content-Length: {length}\r\n");
    }
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    let body = &reply.body[..reply.cut.unwrap_or(reply.body.len()).min(reply.body.len())];
    if reply.pause.is_zero() {
        stream.write_all(body)?;
    } else {
        for byte in body {
            stream.write_all(&[*byte])?;
            stream.flush()?;
            std::thread::sleep(reply.pause);
        }
    }
    stream.flush()?;
    if reply.cut.is_none() {
        stream.conn.send_close_notify();
        stream.flush()?;
    }
    stream.sock.shutdown(Shutdown::Write)?;
    // Until the client has read it all: closing before that would take it away again.
    let _ = stream.sock.read(&mut [0; 1]);
    Ok(())
}

/// Everything up to the empty line.
fn head(stream: &mut impl Read) -> io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && head.len() < 64 << 10 {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    String::from_utf8(head).map_err(io::Error::other)
}

fn forward(mut client: TcpStream, open: bool, log: &Mutex<Vec<String>>) -> io::Result<()> {
    let head = head(&mut client)?;
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let port = target.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0);
    log.lock().unwrap_or_else(PoisonError::into_inner).push(target);
    if !open || !head.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")?;
        return Ok(());
    }
    let mut server = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    io::copy(&mut server, &mut client)?;
    client.shutdown(Shutdown::Write)
}
