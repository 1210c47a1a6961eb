//! Targets with a known flaw each, which show that the loop and the watch find what they are there for.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::{Target, plainly};

/// None of them is run but by name.
pub(crate) fn all() -> Vec<Target> {
    let faulty = |name, run| Target {
        name,
        seeds: || vec![b"start".to_vec()],
        words: &[],
        change: plainly,
        run,
        time: Duration::from_secs(1),
        memory: 1 << 20,
    };
    vec![
        faulty("faulty-panic", |input| assert!(!input.contains(&b'!'), "an exclamation mark")),
        faulty("faulty-memory", |input| drop(black_box(vec![1_u8; input.len() << 14]))),
        faulty("faulty-time", |input| while input.len() > 40 && black_box(Instant::now()).elapsed().as_secs() == 0 {}),
        faulty("faulty-stack", |input| {
            black_box(deep(input.len() << 10));
        }),
        faulty("faulty-maze", maze),
    ]
}

fn deep(levels: usize) -> usize {
    let here = black_box([levels; 16]);
    if levels == 0 { 0 } else { deep(levels - 1) + here[levels % 16] }
}

/// Found in no time by a loop that sees each right step as something new, and never by one that does not.
fn maze(input: &[u8]) {
    let mut right = 0;
    if input.first() == Some(&b'm') {
        right += 1;
        if input.get(1) == Some(&b'a') {
            right += 1;
            if input.get(2) == Some(&b'z') {
                right += 1;
                if input.get(3) == Some(&b'e') {
                    right += 1;
                    if input.get(4) == Some(&b'!') {
                        right += 1;
                    }
                }
            }
        }
    }
    assert!(black_box(right) < 5, "the way out");
}
