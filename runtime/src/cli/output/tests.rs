use std::sync::{Arc, Mutex};

use super::*;

/// Shared with the test that looks at it afterwards.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fails every write in one way.
struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn output(json: bool) -> (Output, Buffer, Buffer) {
    let (stdout, stderr) = (Buffer::default(), Buffer::default());
    let speech = Speech { json, ..Speech::default() };
    (Output::new(speech, Box::new(stdout.clone()), Box::new(stderr.clone())), stdout, stderr)
}

fn answer(exit: Exit) -> Result<Answer, CliError> {
    Ok(Answer { exit, text: "data\n".to_owned(), remark: "done\n".to_owned(), data: json!({ "a": 1 }) })
}

fn usage_error() -> Result<Answer, CliError> {
    Err(CliError::Usage { message: "no\u{9b}".to_owned(), hint: "yes".to_owned() })
}

#[test]
fn text_goes_to_stdout_and_remarks_to_stderr() {
    let (output, stdout, stderr) = output(false);
    output.record("resource", || []);
    assert_eq!(output.finish("plan", answer(Exit::Changed)), Exit::Changed);
    assert_eq!((stdout.text().as_str(), stderr.text().as_str()), ("data\n", "done\n"));
}

#[test]
fn records_are_numbered_and_end_with_one_result() {
    let (output, stdout, stderr) = output(true);
    output.record("begun", || [("total", json!(1))]);
    output.record("resource", || [("resource", json!({"id": "file.x"}))]);
    assert_eq!(output.finish("plan", answer(Exit::Done)), Exit::Done);
    insta::assert_snapshot!(stdout.text(), @r#"
    {"record":"begun","version":1,"seq":0,"total":1}
    {"record":"resource","version":1,"seq":1,"resource":{"id":"file.x"}}
    {"record":"result","version":1,"seq":2,"command":"plan","exit":0,"outcome":"done","data":{"a":1}}
    "#);
    assert_eq!(stderr.text(), "done\n");
}

#[test]
fn an_error_is_the_terminal_record_and_text_for_people() {
    let (output, stdout, stderr) = output(true);
    assert_eq!(output.finish("plan", usage_error()), Exit::Usage);
    insta::assert_snapshot!(stdout.text(), @r#"{"record":"error","version":1,"seq":0,"command":"plan","exit":64,"outcome":"usage","error":{"causes":[],"hint":"yes","message":"no\u009b"}}"#);
    insta::assert_snapshot!(stderr.text(), @r#"
    usage error: no\u{9b}
    hint: yes
    "#);
}

#[test]
fn controls_that_json_allows_are_escaped_and_read_back() {
    let (output, stdout, _) = output(true);
    output.record("x", || [("text", json!("\u{7f}\u{9b}31m\u{202e}\u{1b}ü"))]);
    let line = stdout.text();
    assert!(line.contains(r"\u007f\u009b31m\u202e\u001bü"), "{line}");
    let read: Json = serde_json::from_str(&line).unwrap();
    assert_eq!(read["text"], "\u{7f}\u{9b}31m\u{202e}\u{1b}ü");
}

#[test]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_not() {
    let broken = |kind| Output::new(Speech::default(), Box::new(Broken(kind)), Box::new(Buffer::default()));
    let exit = |kind, exit| broken(kind).finish("plan", answer(exit));
    assert_eq!(exit(io::ErrorKind::StorageFull, Exit::Done), Exit::Io);
    assert_eq!(exit(io::ErrorKind::StorageFull, Exit::Failed), Exit::Failed, "what happened to the node counts more");
    assert_eq!(exit(io::ErrorKind::BrokenPipe, Exit::Done), Exit::Done);
}
