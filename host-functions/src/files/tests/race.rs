//! Another process that swaps a directory for a link, as fast as it can.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags};

use crate::error::CallError;
use crate::testing::Attempt;

const ROUNDS: u32 = 4_000;

#[test]
fn a_swapped_folder_never_leads_outside() {
    let mut attempt = Attempt::new();
    attempt.write("/work/dir/inside", b"inside");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("inside"), b"outside").unwrap();
    attempt.write("/forbidden/inside", b"forbidden");
    // To a folder of the node that the path does not name, and in a directory that the one who swaps could write.
    symlink("/forbidden", attempt.host("/work/swap")).unwrap();
    std::fs::set_permissions(attempt.host("/work"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swaps = Arc::new(AtomicU64::new(0));
    let swapper = {
        let (dir, swap) = (attempt.host("/work/dir"), attempt.host("/work/swap"));
        let (stop, swaps) = (stop.clone(), swaps.clone());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &dir, CWD, &swap, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let (mut done, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        match attempt.put("/work/dir/inside", format!("round {round}").as_bytes()) {
            Ok(()) => done += 1,
            Err(CallError::UnsafePath(_) | CallError::Changed(_) | CallError::Busy(_)) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(std::fs::read(attempt.host("/forbidden/inside")).unwrap(), b"forbidden");
    assert_eq!(std::fs::read(outside.path().join("inside")).unwrap(), b"outside");
    assert_eq!(attempt.names("/forbidden"), ["inside"]);
    assert!(done > 0 && refused > 0, "the race did not happen: {done} done, {refused} refused, {swaps:?} swaps");
    let real = if attempt.host("/work/dir").is_symlink() { "/work/swap" } else { "/work/dir" };
    assert_eq!(attempt.names(real), ["inside"], "nothing staged is left");
}

#[test]
fn a_swapped_file_is_never_lost() {
    let mut attempt = Attempt::new();
    attempt.write("/f", b"theirs 0");
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (folder, stop) = (attempt.folder.path().to_owned(), stop.clone());
        std::thread::spawn(move || {
            let mut last = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                last += 1;
                std::fs::write(folder.join("their-new"), format!("theirs {last}")).unwrap();
                std::fs::rename(folder.join("their-new"), folder.join("f")).unwrap();
            }
            last
        })
    };
    let (mut done, mut refused) = (0, 0);
    for _ in 0..ROUNDS {
        match attempt.put("/f", b"ours") {
            Ok(()) => done += 1,
            Err(CallError::Changed(_) | CallError::Busy(_)) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    assert!(done > 0 && refused > 0, "the race did not happen: {done} done, {refused} refused");
    assert_eq!(attempt.names("/"), ["f"], "nothing staged is left");
    let content = String::from_utf8(std::fs::read(attempt.host("/f")).unwrap()).unwrap();
    assert!(content == "ours" || content.starts_with("theirs "), "{content}");
}
