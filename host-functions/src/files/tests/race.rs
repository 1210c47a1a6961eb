//! Another process that swaps a directory for a link, as fast as it can.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags};

use crate::error::CallError;
use crate::testing::{Attempt, Mount};

const ROUNDS: u32 = 4_000;

/// Fewer on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(20);

/// An attempt, and a file system in memory at `/m`, where making durable takes no time and so the rounds are many.
fn in_memory() -> (Attempt, Mount) {
    let attempt = Attempt::new();
    std::fs::create_dir(attempt.host("/m")).unwrap();
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs"], &attempt.host("/m"));
    (attempt, mount)
}

#[test]
fn a_swapped_folder_never_leads_outside() {
    let (mut attempt, _mount) = in_memory();
    attempt.write("/m/work/dir/inside", b"inside");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("inside"), b"outside").unwrap();
    attempt.write("/m/forbidden/inside", b"forbidden");
    // To a folder of the node that the path does not name, and in a directory that the one who swaps could write.
    symlink("/m/forbidden", attempt.host("/m/work/swap")).unwrap();
    std::fs::set_permissions(attempt.host("/m/work"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swaps = Arc::new(AtomicU64::new(0));
    let swapper = {
        let (dir, swap) = (attempt.host("/m/work/dir"), attempt.host("/m/work/swap"));
        let (stop, swaps) = (stop.clone(), swaps.clone());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &dir, CWD, &swap, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let (mut done, mut refused) = (0, 0);
    let start = Instant::now();
    for round in (0..ROUNDS).take_while(|_| start.elapsed() < PATIENCE) {
        match attempt.put("/m/work/dir/inside", format!("round {round}").as_bytes()) {
            Ok(()) => done += 1,
            Err(CallError::UnsafePath(_) | CallError::Changed(_) | CallError::Busy(_)) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(std::fs::read(attempt.host("/m/forbidden/inside")).unwrap(), b"forbidden");
    assert_eq!(std::fs::read(outside.path().join("inside")).unwrap(), b"outside");
    assert_eq!(attempt.names("/m/forbidden"), ["inside"]);
    assert!(done > 0 && refused > 0, "the race did not happen: {done} done, {refused} refused, {swaps:?} swaps");
    let real = if attempt.host("/m/work/dir").is_symlink() { "/m/work/swap" } else { "/m/work/dir" };
    assert_eq!(attempt.names(real), ["inside"], "nothing staged is left");
}

#[test]
fn a_swapped_file_is_never_lost() {
    let (mut attempt, _mount) = in_memory();
    attempt.write("/m/f", b"theirs 0");
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (folder, stop) = (attempt.host("/m"), stop.clone());
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
    let start = Instant::now();
    for round in (0..ROUNDS).take_while(|_| start.elapsed() < PATIENCE) {
        let ours = format!("ours {round}");
        match attempt.put("/m/f", ours.as_bytes()) {
            Ok(()) => done += 1,
            Err(CallError::Changed(_) | CallError::Busy(_)) => {
                refused += 1;
                let now = std::fs::read_to_string(attempt.host("/m/f")).unwrap();
                assert_ne!(now, ours, "it is in place, and said to be refused");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    assert!(done > 0 && refused > 0, "the race did not happen: {done} done, {refused} refused");
    assert_eq!(attempt.names("/m"), ["f"], "nothing staged is left");
    let content = String::from_utf8(std::fs::read(attempt.host("/m/f")).unwrap()).unwrap();
    assert!(content.starts_with("ours ") || content.starts_with("theirs "), "{content}");
}
