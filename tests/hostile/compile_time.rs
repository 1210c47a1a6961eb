//! What a manifest or a component can cost before anything is applied: chains of exports, budgets of the language, and components that are made to be
//! slow to compile.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use runtime::engine::{CompileLimits, Compiler, Engine, EngineError, EngineOptions, MAX_COMPONENT_BYTES};
use testkit::guests;
use testkit::scene::{error_code, tell};

use crate::attempts::told;
use crate::stage::scene;

/// Far more than any of this takes: that it ends at all is what is shown.
const LONG: Duration = Duration::from_secs(120);

/// `count` resources, of which each has its path from the one before; the first does what it is told.
fn chain(count: usize, behaviour: &str) -> String {
    let one = |number: usize| {
        let path = match number {
            0 => "/srv/scratch/it".to_owned(),
            _ => format!("${{hostile.r{}.path}}x", number - 1),
        };
        let behaviour = if number == 0 { behaviour } else { "" };
        format!("resource \"hostile\" \"r{number}\" {{\n  path = \"{path}\"\n  other = \"/srv/secret/kept\"\n  {behaviour}\n}}\n")
    };
    // The last comes first, so that all are evaluated for it.
    (0..count).rev().map(one).collect()
}

#[test]
fn a_chain_of_exports_has_an_end_and_a_cycle_is_named() {
    let scene = scene();
    scene.compile("site", &chain(64, ""));
    let error = scene.try_compile("long", &chain(200, "")).unwrap_err();
    assert!(error_code(&error) == 65 && tell(&error).contains("64"), "{}", tell(&error));
    let cycle = "resource \"hostile\" \"a\" {\n  path = hostile.b.path\n  other = \"/x\"\n}\n\
                 resource \"hostile\" \"b\" {\n  path = hostile.a.path\n  other = \"/x\"\n}\n";
    let error = scene.try_compile("cycle", cycle).unwrap_err();
    let text = tell(&error);
    assert!(error_code(&error) == 65 && text.contains("hostile.a.path -> hostile.b.path"), "{text}");
}

#[test]
fn what_the_end_of_a_long_chain_does_ends_it_alone() {
    for act in ["recurse", "allocate", "trap", "huge-string"] {
        let scene = scene();
        let since = Instant::now();
        let error = scene.try_compile("site", &chain(60, &format!("behaviour = \"{act}@resolve-export\""))).unwrap_err();
        assert!(since.elapsed() < LONG, "{act}");
        let text = tell(&error);
        assert!(error_code(&error) == 65 && text.contains("resolve-export"), "{act}: {text}");
        assert!(!scene.bundle("site").exists());
    }
}

#[test]
fn what_an_expression_costs_is_bounded_and_the_bound_is_named() {
    let cases = [
        (format!("regex(\"{}\", \"x\")", "a?".repeat(3_000)), "4096"),
        ("join(\"\", [for a in range(60000) : join(\"\", [for b in range(60000) : \"x\"])])".to_owned(), "more than"),
        (format!("{}1{}", "(".repeat(100), ")".repeat(100)), "64"),
        (format!("\"{}\"", "x".repeat(17 << 20)), "larger than 16 MiB"),
    ];
    let scene = scene();
    for (expression, words) in cases {
        let since = Instant::now();
        let text = format!("resource \"file\" \"a\" {{\n  path = \"/srv/a\"\n  content = {expression}\n}}\n");
        let error = scene.try_compile("site", &text).unwrap_err();
        assert!(since.elapsed() < LONG, "{expression:.60}");
        assert!(error_code(&error) == 65 && tell(&error).contains(words), "{expression:.60}: {}", tell(&error));
    }
}

/// An engine that compiles as the program does, within limits.
fn engine(limits: CompileLimits) -> Engine {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_runtime"));
    let options = EngineOptions { compiler: Compiler::apart(program, limits), ..EngineOptions::default() };
    Engine::new(options).unwrap()
}

#[test]
fn a_component_that_is_too_large_is_not_looked_at() {
    let error = engine(CompileLimits::default()).load(&vec![0; MAX_COMPONENT_BYTES + 1]).unwrap_err();
    assert!(matches!(error, EngineError::TooLarge { .. }), "{error}");
    assert!(told(&error).contains("more than the 16777216 allowed"), "{error}");
}

#[test]
fn a_component_that_is_compiled_apart_works_as_any_other() {
    let module = engine(CompileLimits::default()).load(guests::HOSTILE).unwrap();
    assert_eq!(module.type_name().to_string(), "hostile");
}

#[test]
fn what_is_no_component_is_said_so_from_apart_too() {
    for bytes in [&b"text"[..], b"\0asm\x01\0\0\0", &guests::HOSTILE[..10_000]] {
        let error = engine(CompileLimits::default()).load(bytes).unwrap_err();
        assert!(matches!(error, EngineError::Invalid { .. }), "{error:?}");
        assert!(told(&error).contains("is not a valid WebAssembly component: "), "{}", told(&error));
    }
}

/// A component with one function of `loops` loops in each other, within which `locals` variables are changed: each loop has to hand each of them on.
fn bomb(loops: usize, locals: u32) -> Vec<u8> {
    let mut body = [&[1][..], &leb(locals), &[0x7f]].concat();
    for _ in 0..loops {
        body.extend([0x03, 0x40]);
    }
    for local in 0..locals {
        let index = leb(local);
        // Its value, and one more, is its new value.
        body.extend([&[0x20][..], &index, &[0x41, 1, 0x6a, 0x21], &index].concat());
    }
    for loop_end in 0..loops {
        // Again, if the first of them is not 0, and so out of each loop in turn.
        body.extend([0x20, 0, 0x0d, 0, 0x0b]);
        assert!(loop_end < loops);
    }
    body.push(0x0b);
    let code = section(10, &[&[1][..], &leb(u32::try_from(body.len()).unwrap()), &body].concat());
    let module = [&b"\0asm\x01\0\0\0"[..], &section(1, &[1, 0x60, 0, 0]), &section(3, &[1, 0]), &code].concat();
    [&b"\0asm\x0d\0\x01\0"[..], &section(1, &module)].concat()
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id][..], &leb(u32::try_from(content.len()).unwrap()), content].concat()
}

/// An unsigned number as WebAssembly writes it.
fn leb(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

#[track_caller]
fn assert_costly(limits: CompileLimits, words: &str) {
    let component = bomb(2_000, 4_000);
    assert!(component.len() < 100_000, "it is small");
    let since = Instant::now();
    let error = engine(limits).load(&component).unwrap_err();
    assert!(since.elapsed() < LONG, "{:?}", since.elapsed());
    assert!(matches!(error, EngineError::Costly { .. }), "{error:?}");
    let text = told(&error);
    assert!(text.contains(words) && text.contains("ask where it comes from"), "{text}");
}

#[test]
fn a_component_that_is_made_to_be_slow_to_compile_is_ended_by_the_time_it_takes() {
    let default = CompileLimits::default();
    assert_costly(CompileLimits { cpu_seconds: 1, memory_bytes: 64 << 30, ..default }, "1 s of processor time");
    assert_costly(CompileLimits { wall: Duration::from_secs(1), memory_bytes: 64 << 30, ..default }, "took more than 1 s");
}

#[test]
fn a_component_that_is_made_to_take_memory_to_compile_is_ended_by_what_it_takes() {
    assert_costly(CompileLimits { memory_bytes: 512 << 20, ..CompileLimits::default() }, "512 MiB of memory");
}
