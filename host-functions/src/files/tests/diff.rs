//! Differences of text for plans.

use crate::assets::AssetName;
use crate::files::diff::{MAX_DIFF, TextDiff, text_diff};
use crate::phase::Phase;
use crate::rights::Sensitivity;
use crate::testing::{Attempt, all_rights, digest_of, stranger};

fn diff(attempt: &mut Attempt, path: &str, after: &[u8]) -> Option<TextDiff> {
    attempt.context.set_phase(Phase::Check);
    let asset = AssetName::Plain(digest_of(after));
    let difference = text_diff(&mut attempt.context, path.as_bytes(), &asset).ok();
    assert_eq!(attempt.context.phase(), Phase::Check);
    difference
}

#[test]
fn text_is_shown_with_three_lines_around() {
    let after = b"1\n2\n3\n4\nfive\n6\n7\n8\n9\x1b[0m\n";
    let mut attempt = Attempt::with_assets(all_rights("file.a"), &[after, b"new\n"]);
    attempt.write("/f", b"1\n2\n3\n4\n5\n6\n7\n8\n9");
    let expected =
        concat!("@@ -2,8 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n", "-9\n\\ No newline at end of file\n+9\\u{1b}[0m\n",);
    assert_eq!(diff(&mut attempt, "/f", after), Some(TextDiff::Unified(expected.into())));
    let expected = "@@ -0,0 +1 @@\n+new\n";
    assert_eq!(diff(&mut attempt, "/none/new", b"new\n"), Some(TextDiff::Unified(expected.into())));
}

#[test]
fn what_is_no_text_is_summed_up() {
    let large = vec![b'x'; 2 << 20];
    let mut attempt = Attempt::with_assets(all_rights("file.a"), &[b"text\n", b"\xff\xfe", &large]);
    attempt.write("/text", b"0123456789");
    attempt.write("/nul", b"a\0b");
    std::fs::create_dir(attempt.host("/d")).unwrap();
    std::os::unix::fs::symlink("/text", attempt.host("/link")).unwrap();
    let mut summary = |path: &str, after: &[u8]| match diff(&mut attempt, path, after) {
        Some(TextDiff::Summary(text)) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(summary("/text", b"\xff\xfe"), "binary, 10 → 2 bytes");
    assert_eq!(summary("/nul", b"text\n"), "binary, 3 → 5 bytes");
    assert_eq!(summary("/text", &large), "large, 10 → 2097152 bytes");
    assert_eq!(summary("/d", b"text\n"), "directory → file, 5 bytes");
    assert_eq!(summary("/link", b"text\n"), "symbolic link → file, 5 bytes");
}

#[test]
fn a_long_difference_is_cut() {
    let after = b"x\n".repeat(100_000);
    let mut attempt = Attempt::with_assets(all_rights("file.a"), &[&after]);
    let Some(TextDiff::Unified(text)) = diff(&mut attempt, "/f", &after) else { panic!() };
    assert!(text.len() < MAX_DIFF + 100);
    assert!(text.ends_with("more lines\n"), "{}", &text[text.len() - 40..]);
}

#[test]
fn what_may_not_be_read_is_not_shown() {
    let mut rights = all_rights("file.a");
    rights.effects.clear();
    let mut attempt = Attempt::with_assets(rights, &[b"new\n"]);
    attempt.write("/f", b"old\n");
    assert_eq!(diff(&mut attempt, "/f", b"new\n"), None, "the resource declared nothing");

    let mut attempt = Attempt::with_assets(stranger(|_| {}), &[b"new\n"]);
    attempt.write("/etc/shadow", b"old\n");
    assert_eq!(diff(&mut attempt, "/etc/shadow", b"new\n"), None, "policy grants nothing");
    assert_eq!(diff(&mut attempt, "/etc/shadow", b"not listed"), None);

    let mut rights = all_rights("file.a");
    rights.assets.insert(AssetName::Plain(digest_of(b"hunter2\n")), Sensitivity::Sensitive);
    let mut attempt = crate::files::tests::with_sensitive(rights, b"hunter2\n");
    attempt.write("/f", b"old secret\n");
    assert_eq!(diff(&mut attempt, "/f", b"hunter2\n"), Some(TextDiff::Summary("sensitive, not shown".into())));
}

#[test]
fn what_a_secret_replaces_or_is_replaced_by_is_not_shown() {
    let mut rights = all_rights("file.a");
    rights.had_secrets = true;
    let mut attempt = Attempt::with_assets(rights, &[b"plain\n"]);
    attempt.write("/f", b"hunter2\n");
    assert_eq!(diff(&mut attempt, "/f", b"plain\n"), Some(TextDiff::Summary("sensitive, not shown".into())));
    let secret: AssetName = "secret:file.a/content".parse().unwrap();
    let mut rights = all_rights("file.a");
    rights.assets.insert(secret.clone(), Sensitivity::Sensitive);
    let mut attempt = Attempt::with(rights);
    attempt.write("/f", b"old\n");
    attempt.context.set_phase(Phase::Check);
    let difference = text_diff(&mut attempt.context, b"/f", &secret).unwrap();
    assert_eq!(difference, TextDiff::Summary("sensitive, not shown".into()));
}
