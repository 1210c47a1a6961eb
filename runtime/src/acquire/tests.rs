//! Against a real server on loopback.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use testkit::https::{Asked, Proxy, Reply, Server};

use super::*;

/// More than one read, and than one TLS record.
fn large() -> Vec<u8> {
    (0..400_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

struct Bench {
    folder: tempfile::TempDir,
    server: Server,
    settings: Settings,
}

impl Bench {
    fn new(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(answer);
        let ca_file = folder.path().join("ca.pem");
        std::fs::write(&ca_file, server.certificate()).unwrap();
        std::fs::create_dir(folder.path().join("site")).unwrap();
        let settings = Settings {
            addresses: vec![server.address("/pub").parse().unwrap()],
            ca_file: Some(ca_file),
            timeout: Duration::from_secs(60),
            ..Settings::default()
        };
        Self { folder, server, settings }
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn acquirer_with(&self, places: Places, progress: Arc<dyn Progress>) -> Acquirer {
        Acquirer::new(&self.folder.path().join("site"), self.settings.clone(), places, progress).unwrap()
    }

    fn acquirer(&self) -> Acquirer {
        let places = Places { cache: Some(self.cache()), scratch: self.folder.path().to_owned() };
        self.acquirer_with(places, Arc::new(Silent))
    }

    fn fetch(&self, path: &str, checksum: AssetDigest) -> Result<Acquired, AcquireError> {
        self.acquirer().fetch(&self.server.address(path), checksum)
    }

    /// The error, of which nothing may be left.
    #[track_caller]
    fn refusal(&self, path: &str) -> AcquireError {
        let error = self.fetch(path, AssetDigest::of(&large())).unwrap_err();
        assert_eq!(kept(&self.cache()), 0, "nothing half-written is left");
        error
    }
}

fn kept(cache: &Path) -> usize {
    std::fs::read_dir(cache.join("sources")).map_or(0, Iterator::count)
}

fn read(acquired: &Acquired) -> Vec<u8> {
    let mut bytes = Vec::new();
    (acquired.stored.open)().unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn an_address_is_fetched_verified_and_kept_for_the_next_time() {
    let bench = Bench::new(|_| Reply::body(large()));
    let digest = AssetDigest::of(&large());
    let acquired = bench.fetch("/pub/a", digest).unwrap();
    assert_eq!((acquired.digest, acquired.size), (digest, 400_000));
    assert!(read(&acquired) == large());
    bench.fetch("/pub/elsewhere", digest).unwrap();
    assert_eq!(bench.server.asked().len(), 1, "the second time nothing is fetched");

    std::fs::write(&acquired.stored.path, "damaged").unwrap();
    assert!(read(&bench.fetch("/pub/a", digest).unwrap()) == large(), "what is kept is verified when it is used");
    assert_eq!((bench.server.asked().len(), kept(&bench.cache())), (2, 1));
}

#[test]
fn without_a_cache_it_is_kept_for_as_long_as_it_is_needed() {
    let bench = Bench::new(|_| Reply::body("a"));
    let scratch = bench.folder.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let acquirer = bench.acquirer_with(Places { cache: None, scratch: scratch.clone() }, Arc::new(Silent));
    let acquired = acquirer.fetch(&bench.server.address("/pub/a"), AssetDigest::of(b"a")).unwrap();
    assert_eq!(read(&acquired), b"a");
    drop(acquirer);
    assert_eq!(read(&acquired), b"a");
    drop(acquired);
    assert_eq!(std::fs::read_dir(scratch).unwrap().count(), 0);
}

#[test]
fn only_allowed_addresses_are_asked() {
    let bench = Bench::new(|_| Reply::body("a"));
    let error = bench.refusal("/private/a?token=x");
    assert!(matches!(error, AcquireError::NotAllowed { .. }), "{error}");
    let hint = format!("if it is to be trusted, pass `--allow-url {}`", bench.server.address("/private/"));
    assert_eq!(error.hint(), Some(hint));
    let plain = bench.server.address("/pub/a").replacen("https", "http", 1);
    let error = bench.acquirer().fetch(&plain, AssetDigest::of(b"a")).unwrap_err();
    assert!(error.to_string().contains("only `https:`"), "{error}");
    assert!(bench.acquirer().permits(&bench.server.address("/pub/a")).is_ok());
    assert_eq!(bench.server.asked(), []);

    bench.fetch("/pub/a", AssetDigest::of(b"a")).unwrap();
    let mut closed = bench;
    closed.settings.addresses.clear();
    let error = closed.fetch("/pub/a", AssetDigest::of(b"a")).unwrap_err();
    assert!(matches!(error, AcquireError::NotAllowed { .. }), "also not what the cache has: {error}");
}

#[test]
fn other_bytes_than_promised_are_refused() {
    let bench = Bench::new(|_| Reply::body("other"));
    let error = bench.refusal("/pub/a");
    assert!(matches!(error, AcquireError::Mismatch { found } if found == AssetDigest::of(b"other")), "{error}");
}

#[test]
fn a_broken_download_goes_on_where_it_broke_off() {
    let bench = Bench::new(|asked| match asked.earlier {
        0 => Reply::ranged(&large(), "v1", asked).cut(150_000),
        1 => Reply::status(503),
        2 => Reply::ranged(&large(), "v1", asked).cut(50_000),
        _ => Reply::ranged(&large(), "v1", asked),
    });
    let acquired = bench.fetch("/pub/a", AssetDigest::of(&large())).unwrap();
    assert!(read(&acquired) == large());
    let asked: Vec<_> = bench.server.asked().into_iter().map(|asked| (asked.range, asked.if_range)).collect();
    let rest = |from: u32| (Some(format!("bytes={from}-")), Some("\"v1\"".to_owned()));
    assert_eq!(asked, [(None, None), rest(150_000), rest(150_000), rest(200_000)]);
}

#[test]
fn a_body_that_changed_meanwhile_or_knows_no_ranges_is_fetched_anew() {
    let changed = Bench::new(|asked| match asked.earlier {
        0 => Reply::ranged(&[7; 300_000], "v1", asked).cut(100_000),
        _ => Reply::ranged(&large(), "v2", asked),
    });
    assert!(read(&changed.fetch("/pub/a", AssetDigest::of(&large())).unwrap()) == large());
    assert_eq!(changed.server.asked()[1].if_range.as_deref(), Some("\"v1\""));

    let plain = Bench::new(|asked| if asked.earlier == 0 { Reply::body(large()).cut(100_000) } else { Reply::body(large()) });
    assert!(read(&plain.fetch("/pub/a", AssetDigest::of(&large())).unwrap()) == large());
    assert_eq!(plain.server.asked()[1].range, None, "without a validator the rest could be of another body");

    let wrong = Bench::new(|asked| match (asked.earlier, &asked.range) {
        (0, _) => Reply::ranged(&large(), "v1", asked).cut(100_000),
        (_, Some(_)) => Reply::status(206).header("Content-Range", "bytes 5-9/10"),
        _ => Reply::body(large()),
    });
    assert!(read(&wrong.fetch("/pub/a", AssetDigest::of(&large())).unwrap()) == large());
}

#[test]
fn a_download_that_breaks_off_for_ever_is_given_up() {
    let cut = Bench::new(|asked| Reply::ranged(&large(), "v1", asked).cut(10));
    let error = cut.refusal("/pub/a");
    assert!(matches!(error, AcquireError::BrokenOff { received: 60, resumes: 5, .. }), "{error}");
    let short = Bench::new(|_| Reply::body("short").promise(Some(100)));
    let error = short.refusal("/pub/a");
    assert!(matches!(error, AcquireError::BrokenOff { received: 5, .. }), "{error}");
}

#[test]
fn size_is_bounded_whatever_the_server_says() {
    let asked = |promise: Option<u64>| {
        let mut bench = Bench::new(move |_| Reply::body(large()).promise(promise));
        bench.settings.max_size = 300_000;
        bench.refusal("/pub/a")
    };
    for error in [asked(Some(400_000)), asked(Some(u64::MAX)), asked(None)] {
        assert!(matches!(error, AcquireError::TooLarge { limit: 300_000 }), "{error}");
        assert!(error.hint().unwrap().contains("--max-source-size"));
    }
}

#[test]
fn time_is_bounded_however_the_bytes_trickle() {
    let mut bench = Bench::new(|_| Reply::body(large()).slow(Duration::from_millis(20)));
    bench.settings.timeout = Duration::from_millis(700);
    let began = std::time::Instant::now();
    let error = bench.refusal("/pub/a");
    assert!(matches!(error, AcquireError::TimedOut { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20) && error.hint().unwrap().contains("--source-timeout"));
}

#[test]
fn redirects_are_followed_to_allowed_addresses_only() {
    let bench = Bench::new(|asked| match asked.path.as_str() {
        "/pub/a" => Reply::redirect("b?x=1"),
        "/pub/b?x=1" => Reply::redirect("/pub/c"),
        "/pub/c" => Reply::body("c"),
        "/pub/out" => Reply::redirect("/private/a?token=x"),
        "/pub/other-host" => Reply::redirect("https://127.0.0.1:1/pub/a"),
        "/pub/plain" => Reply::redirect("http://localhost/pub/c"),
        "/pub/loop" => Reply::redirect("/pub/loop"),
        _ => Reply::status(404),
    });
    bench.fetch("/pub/a", AssetDigest::of(b"c")).unwrap();
    std::fs::remove_dir_all(bench.cache()).unwrap();
    let refusal = |path: &str| {
        let error = bench.refusal(path);
        match error {
            AcquireError::Redirect { ref to, ref reason } => (to.clone(), reason.clone(), error.hint()),
            other => panic!("{path}: {other}"),
        }
    };
    let (to, reason, hint) = refusal("/pub/out");
    assert_eq!(to, bench.server.address("/private/a"), "without its query");
    assert!(matches!(reason, RedirectError::NotAllowed { .. }) && hint.unwrap().contains("/private/"));
    assert!(matches!(refusal("/pub/other-host").1, RedirectError::NotAllowed { .. }));
    assert!(matches!(refusal("/pub/plain").1, RedirectError::NotAnAddress { .. }));
    assert!(matches!(refusal("/pub/loop").1, RedirectError::TooMany { limit: 5 }));
    let loops = bench.server.asked().iter().filter(|asked| asked.path == "/pub/loop").count();
    assert_eq!(loops, 6, "the first, and five that it sends us on to");
    assert!(bench.server.asked().iter().all(|asked| !asked.path.starts_with("/private")));
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_trusted() {
    let mut bench = Bench::new(|_| Reply::body("a"));
    bench.settings.ca_file = None;
    let error = bench.refusal("/pub/a");
    assert!(matches!(&error, AcquireError::Tls { host, .. } if host.starts_with("localhost:")), "{error}");
    assert!(error.hint().unwrap().contains("--ca-file"));
    assert_eq!(bench.server.asked(), []);
}

#[test]
fn refusals_of_server_and_network_are_told() {
    let mut bench = Bench::new(|_| Reply::status(404));
    assert!(matches!(bench.refusal("/pub/a"), AcquireError::Status { status: 404 }));
    let closed = "https://localhost:1/pub";
    bench.settings.addresses = vec![closed.parse().unwrap()];
    let error = bench.acquirer().fetch(closed, AssetDigest::of(b"a")).unwrap_err();
    assert!(matches!(&error, AcquireError::Unreachable { host, .. } if host == "localhost:1"), "{error}");
}

#[test]
fn a_proxy_is_used_but_for_hosts_that_are_excepted() {
    let mut bench = Bench::new(|_| Reply::body("a"));
    let proxy = Proxy::start(true);
    let port = bench.server.port();
    bench.settings.proxy = ProxySettings { https: Some(proxy.address()), none: "localhost".into() };
    bench.settings.addresses =
        vec![format!("https://files.test:{port}/").parse().unwrap(), bench.server.address("/").parse().unwrap()];
    bench.fetch("/pub/a", AssetDigest::of(b"a")).unwrap();
    assert_eq!(proxy.asked(), Vec::<String>::new());
    std::fs::remove_dir_all(bench.cache()).unwrap();
    bench.acquirer().fetch(&format!("https://files.test:{port}/pub/a"), AssetDigest::of(b"a")).unwrap();
    assert_eq!(proxy.asked(), [format!("files.test:{port}")]);

    let shut = Proxy::start(false);
    bench.settings.proxy = ProxySettings { https: Some(shut.address()), none: String::new() };
    let error = bench.acquirer().fetch(&bench.server.address("/pub/b"), AssetDigest::of(b"b")).unwrap_err();
    assert!(matches!(error, AcquireError::Proxy { .. }) && error.hint().unwrap().contains("no_proxy"), "{error}");
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn begun(&self, address: &str, size: Option<u64>) {
        self.0.lock().unwrap().push(format!("{} of {size:?}", address.rsplit('/').next().unwrap()));
    }

    fn received(&self, bytes: u64) {
        let mut heard = self.0.lock().unwrap();
        if bytes == 400_000 {
            heard.push("all".into());
        }
    }

    fn ended(&self) {
        self.0.lock().unwrap().push("ended".into());
    }
}

#[test]
fn a_person_hears_of_a_download() {
    let bench = Bench::new(|_| Reply::body(large()));
    let heard = Arc::new(Heard::default());
    let places = Places { cache: None, scratch: bench.folder.path().to_owned() };
    let acquirer = bench.acquirer_with(places, Arc::clone(&heard) as Arc<dyn Progress>);
    acquirer.fetch(&bench.server.address("/pub/a?token=x"), AssetDigest::of(&large())).unwrap();
    assert_eq!(*heard.0.lock().unwrap(), ["a of Some(400000)", "all", "ended"]);
}

#[test]
fn addresses_are_told_from_paths() {
    for address in ["https://a/b", "http://a", "s3://bucket/key", "HTTPS://a", "git+ssh://a"] {
        assert!(is_address(address), "{address}");
    }
    for path in ["a/b", "files/a:b", "./https://a", "://a", "a b://c", "C:\\a", "1s://x"] {
        assert!(!is_address(path), "{path}");
    }
}
