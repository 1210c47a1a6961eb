//! What guests were told: every memory of every guest, as it ended, and every line of the log at its finest.

use std::io::Write;
use std::sync::{Arc, Mutex};

use runtime::model::report::Outcome;
use runtime::run;
use testkit::Scene;
use testkit::scene::assert_all;
use tracing_subscriber::fmt::MakeWriter;

use crate::needles::Needles;

const VALUES: [&str; 2] = ["Zq7#plain-9", "Hx5|of-the-node-6"];

const MANIFEST: &str = r#"
variable "plain" {
  type      = string
  sensitive = true
}

resource "file" "plain" {
  path    = "/srv/plain"
  content = var.plain
}

resource "file" "joined" {
  path    = "${file.plain.path}-joined"
  content = "${facts.hostname} ${var.plain} ${secret("token")}"
}
"#;

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Kept {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[test]
fn no_guest_is_ever_told_a_sensitive_value_and_no_line_of_the_log_holds_one() {
    let (memories, log) = (Arc::new(Mutex::new(Vec::<Vec<u8>>::new())), Kept::default());
    let watched = Arc::clone(&memories);
    runtime::engine::watch_memories(Arc::new(move |memory| watched.lock().unwrap().push(memory.to_vec())));
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let mut scene = Scene::new();
    scene.set_policy("secret \"token\" {\n  owners  = [\"site\"]\n  modules = [\"file\"]\n}\n");
    crate::refusals::put_secret(&scene, "token", VALUES[1]);
    scene.write("site/site.hcl", MANIFEST);
    let mut request = scene.compile_request("site");
    request.variables = vec![("plain".to_owned(), VALUES[0].to_owned())];
    run::compile(&request).unwrap();
    assert_all(&scene.noop("site"), Outcome::WouldChange);
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    assert_eq!(scene.read("/srv/plain-joined"), format!("db1 {} {}", VALUES[0], VALUES[1]));

    let needles = Needles::of(&VALUES);
    let memories = memories.lock().unwrap();
    assert!(memories.len() > 10, "guests ran: {}", memories.len());
    let knew = |text: &str| memories.iter().any(|memory| String::from_utf8_lossy(memory).contains(text));
    assert!(knew("/srv/plain") && knew("secret:file.plain/content"), "what a guest is told is found");
    for (number, memory) in memories.iter().enumerate() {
        needles.assert_none_in(&format!("guest memory {number}"), memory);
    }
    let log = log.0.lock().unwrap();
    assert!(String::from_utf8_lossy(&log).contains("files.object.stage"), "host calls are logged");
    needles.assert_none_in("the log", &log);
}
