//! The loop: feeds a target one input after the other, for as long as it is told to.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::coverage::{self, Coverage};
use crate::mutate::Mutator;
use crate::random::Random;
use crate::targets::Target;
use crate::{Task, memory, seeds};

/// An input that takes longer than this is not built upon: others would get no turn.
const SLOW: Duration = Duration::from_millis(100);

/// When the input began that is being tried, in milliseconds since the start of the process; 0 while none is.
static BEGAN: AtomicU64 = AtomicU64::new(0);

/// The file in which the input is noted that is being tried.
pub(crate) fn note_in(folder: &Path, target: &Target) -> PathBuf {
    folder.join(format!("{}.current", target.name))
}

/// Feeds the target until time is up. Whatever goes wrong ends the process.
pub(crate) fn run(task: &Task) -> Result<(), String> {
    let path = note_in(&task.folder, &task.target);
    let note = File::create(&path).map_err(|error| format!("`{}` cannot be made: {error}", path.display()))?;
    let mut work = Work { target: &task.target, note, coverage: Coverage::new(), corpus: Vec::new(), tried: 0 };
    begin(&task.target);
    for seed in (task.target.seeds)().into_iter().chain(seeds::kept(task.target.name)) {
        work.attempt(&seed, true)?;
    }
    if work.corpus.is_empty() {
        return Err(format!("`{}` has nothing to start from", task.target.name));
    }
    let (given, reached) = (work.corpus.len(), work.coverage.reached);
    let (mut random, until) = (Random::new(task.seed), Instant::now() + task.time);
    while Instant::now() < until {
        let input = work.next(&mut random);
        work.attempt(&input, false)?;
    }
    let added = work.corpus.len() - given;
    let (more, tried, edges) = (work.coverage.reached - reached, work.tried, coverage::edges());
    println!(
        "{}: {tried} inputs, no finding; {given} to start from reached {reached} of {edges} edges, {added} found on the way {more} more",
        task.target.name
    );
    Ok(())
}

/// Feeds the target what stands in files.
pub(crate) fn replay(target: &Target, files: &[&str]) -> Result<(), String> {
    begin(target);
    for file in files {
        let input = std::fs::read(file).map_err(|error| format!("`{file}` cannot be read: {error}"))?;
        attempt(target, &input);
        println!("{}: `{file}` is nothing to it", target.name);
    }
    Ok(())
}

struct Work<'t> {
    target: &'t Target,
    note: File,
    coverage: Coverage,
    /// Inputs that each reached something new.
    corpus: Vec<Vec<u8>>,
    tried: u64,
}

impl Work<'_> {
    fn attempt(&mut self, input: &[u8], is_seed: bool) -> Result<(), String> {
        let noted = self.note.write_all_at(input, 0).and_then(|()| self.note.set_len(input.len() as u64));
        noted.map_err(|error| format!("an input cannot be noted: {error}"))?;
        let began = Instant::now();
        Coverage::begin();
        attempt(self.target, input);
        self.tried += 1;
        let is_new = self.coverage.take();
        if is_seed || (is_new && began.elapsed() < SLOW) {
            self.corpus.push(input.to_vec());
        }
        Ok(())
    }

    /// One of the corpus, changed; half the time one of the latest.
    fn next(&self, random: &mut Random) -> Vec<u8> {
        let latest = &self.corpus[self.corpus.len().saturating_sub(32)..];
        let from = if random.once_in(2) { latest } else { self.corpus.as_slice() };
        let mut input = random.pick(from).cloned().unwrap_or_default();
        let other = random.pick(&self.corpus).cloned().unwrap_or_default();
        let mut mutator = Mutator { random, words: self.target.words, other: &other };
        (self.target.change)(&mut mutator, &mut input);
        input
    }
}

/// Whatever goes wrong from here on ends the process.
fn begin(target: &Target) {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        show(panic);
        std::process::abort();
    }));
    now();
    let limit = target.time;
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let began = BEGAN.load(Ordering::Relaxed);
            if began != 0 && now().saturating_sub(began) > limit.as_millis() as u64 {
                eprintln!("\nan input takes longer than {limit:?}");
                std::process::abort();
            }
        }
    });
}

fn attempt(target: &Target, input: &[u8]) {
    BEGAN.store(now(), Ordering::Relaxed);
    memory::allow(target.memory);
    (target.run)(input);
    memory::allow(usize::MAX);
    BEGAN.store(0, Ordering::Relaxed);
}

/// Milliseconds since this was first asked, and 1 more.
fn now() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_millis() as u64 + 1
}
