//! The vocabularies that resource types of an ordinary system have.

use serde_json::json;

use super::*;
use crate::testing::{self, Given, check_description};
use crate::{Attributes, Capability, Compiled, Definition, Footprint, Semantics, TestedState, Type};

/// What a file is; `present` is a value of its own, which the type makes canonical.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk_derive::Ensure)]
#[ensure(default = File, nullable, normalize = FileEnsure::canonical)]
enum FileEnsure {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link.
    Symlink,
    /// Nothing.
    Absent,
    /// A file, whatever it was called before.
    Present,
}

impl FileEnsure {
    fn canonical(self) -> Self {
        if self == Self::Present { Self::File } else { self }
    }
}

/// What a package is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk_derive::Ensure)]
#[ensure(default = Present)]
enum PackageEnsure {
    /// Some version.
    Present,
    /// None, its configuration may stay.
    Absent,
    /// None, nor any configuration.
    Purged,
    /// The newest version.
    Latest,
}

/// Whether a service runs. Left out, that is nobody's matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk_derive::Ensure)]
#[ensure(nullable)]
enum Activity {
    /// It runs.
    Running,
    /// It does not run. It is not deleted, disabled or masked.
    Stopped,
}

/// What it makes of `off` is in no vocabulary of canonical words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    On,
    Off,
    Nothing,
}

impl Ensure for Broken {
    const VOCABULARY: Vocabulary<Self> =
        Vocabulary { words: &[(Self::On, "on", "On."), (Self::Off, "off", "Off.")], aliases: &[], default: None, nullable: true };

    fn normalize(self) -> Self {
        if self == Self::On { self } else { Self::Nothing }
    }
}

#[derive(Attributes)]
struct FileGiven {
    /// What it is.
    #[attribute(ensure, identity, exported)]
    ensure: FileEnsure,
}

#[derive(Attributes)]
struct PackageGiven {
    /// What it is.
    #[attribute(ensure, identity, exported)]
    ensure: PackageEnsure,
}

#[derive(Attributes)]
struct ServiceGiven {
    /// Whether it runs.
    #[attribute(ensure, identity, exported, alias = "state")]
    ensure: Option<Activity>,
}

#[derive(Attributes)]
struct PresenceGiven {
    /// Whether it is there.
    #[attribute(ensure, identity, exported)]
    ensure: Presence,
}

#[derive(Attributes)]
struct ExecGiven {
    /// The command.
    #[attribute(identity, exported)]
    command: String,
}

/// A type whose desired state is what the declaration says of `ensure`.
trait OnlyEnsure: 'static {
    type Words: Ensure + serde::Serialize + serde::de::DeserializeOwned;
    type Given: Attributes;
    const NAME: &'static str;
}

struct Of<T>(std::marker::PhantomData<T>);

impl<T: OnlyEnsure> Definition for Of<T> {
    const TYPE: &'static str = T::NAME;
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A condition.";

    type Given = T::Given;
    type Desired = std::collections::BTreeMap<String, T::Words>;

    fn capabilities() -> Vec<Capability> {
        Vec::new()
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        T::Words::resolve(given)?;
        Ok(Footprint::empty())
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Self::Desired>> {
        let ensure = T::Words::resolve(given)?;
        Ok(Compiled::new(ensure.into_iter().map(|value| ("ensure".to_owned(), value)).collect()))
    }

    fn validate(desired: &Self::Desired) -> DefinitionResult<Semantics> {
        match desired.keys().find(|name| *name != "ensure") {
            Some(_) => Err(Diagnostic::new("there is another field").into()),
            None => Ok(Semantics::new(Footprint::empty(), std::time::Duration::from_secs(1))),
        }
    }

    fn test_view(desired: &Self::Desired) -> DefinitionResult<TestedState> {
        TestedState::new(&json!({ "ensure": desired.get("ensure") }))
    }
}

macro_rules! types {
    ($($name:ident: $given:ty, $words:ty, $text:literal;)*) => {$(
        struct $name;

        impl OnlyEnsure for $name {
            type Words = $words;
            type Given = $given;
            const NAME: &'static str = $text;
        }
    )*};
}

types! {
    File: FileGiven, FileEnsure, "file";
    Package: PackageGiven, PackageEnsure, "package";
    Service: ServiceGiven, Activity, "service";
    Thing: PresenceGiven, Presence, "thing";
}

/// What compiling and exporting make of `ensure`; none where it is refused.
fn both<T: OnlyEnsure>(given: &Given) -> (Option<Value>, Option<Value>) {
    let compiled = testing::compile::<Of<T>>(given, testing::any_digest).ok();
    let compiled = compiled.map(|desired| json!(desired.get("ensure")));
    assert_eq!(testing::footprint::<Of<T>>(given).is_ok(), compiled.is_some(), "the footprint takes the same");
    (compiled, testing::export::<Of<T>>("ensure", given).ok())
}

fn word<T: OnlyEnsure>(word: impl Into<Value>) -> (Option<Value>, Option<Value>) {
    both::<T>(&Given::new().set("ensure", word))
}

fn is(word: &str) -> (Option<Value>, Option<Value>) {
    (Some(json!(word)), Some(json!(word)))
}

const REFUSED: (Option<Value>, Option<Value>) = (None, None);

#[test]
fn standard_presence_is_present_by_default_and_refuses_null() {
    assert_eq!(both::<Thing>(&Given::new()), is("present"));
    assert_eq!(word::<Thing>("absent"), is("absent"));
    assert_eq!(word::<Thing>(Value::Null), REFUSED);
    assert_eq!(word::<Thing>("latest"), REFUSED);
}

#[test]
fn a_file_takes_present_and_compiles_and_exports_it_as_file() {
    assert_eq!(word::<File>("present"), is("file"));
    assert_eq!(both::<File>(&Given::new()), is("file"));
    assert_eq!(word::<File>(Value::Null), is("file"));
    for canonical in ["file", "directory", "symlink", "absent"] {
        assert_eq!(word::<File>(canonical), is(canonical));
    }
    let vocabulary = FileEnsure::vocabulary();
    assert_eq!(vocabulary.aliases, [("present".to_owned(), "file".to_owned())]);
    assert_eq!(
        vocabulary.values.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(),
        ["file", "directory", "symlink", "absent"]
    );
    let accepted = Type::words(&["file", "directory", "symlink", "absent", "present"]);
    assert_eq!(FileGiven::attributes()[0].kind(), &accepted);
    assert!(serde_json::from_str::<FileEnsure>(r#""present""#).is_err(), "a desired state holds canonical words only");
}

#[test]
fn a_package_is_present_absent_purged_or_latest() {
    for canonical in ["present", "absent", "purged", "latest"] {
        assert_eq!(word::<Package>(canonical), is(canonical));
    }
    assert_eq!(both::<Package>(&Given::new()), is("present"));
}

#[test]
fn a_service_without_ensure_is_unmanaged_and_exporting_it_is_an_error() {
    let unmanaged = (Some(Value::Null), None);
    assert_eq!(both::<Service>(&Given::new()), unmanaged);
    assert_eq!(word::<Service>(Value::Null), unmanaged);
    assert_eq!(word::<Service>("running"), is("running"));
    assert_eq!(word::<Service>("stopped"), is("stopped"));
    assert_eq!(Activity::vocabulary().default_value, None);
    let error = testing::export::<Of<Service>>("state", &Given::new()).unwrap_err();
    let DefinitionError::Invalid(diagnostic) = error else { panic!("{error:?}") };
    assert_eq!(diagnostic.message, "`ensure` is not given here, and what it is can be found on the node only");
    assert_eq!(diagnostic.hint.as_deref(), Some("use one of `running`, `stopped`"));
}

#[test]
fn the_state_of_a_service_is_another_spelling_of_its_ensure_and_both_are_refused() {
    let given = Given::new().set("state", "stopped");
    assert_eq!(both::<Service>(&given), is("stopped"));
    assert_eq!(testing::export::<Of<Service>>("state", &given).unwrap(), json!("stopped"));
    let both_given = given.set("ensure", "running");
    both_given.forget();
    assert_eq!(both::<Service>(&both_given), REFUSED);
    assert_eq!(both_given.asked(), [""; 0], "refused before either is read");
}

#[test]
fn a_type_without_ensure_has_no_vocabulary() {
    assert_eq!(ExecGiven::ensure_vocabulary(), None);
    assert_eq!(FileGiven::ensure_vocabulary(), Some(FileEnsure::vocabulary()));
}

#[test]
fn descriptions_and_declarations_agree() {
    check_description::<Of<File>>();
    check_description::<Of<Package>>();
    check_description::<Of<Service>>();
    check_description::<Of<Thing>>();
    testing::agree::<Of<Service>>(&Given::new().set("ensure", "running"));
}

#[test]
fn the_resolver_reads_ensure_alone() {
    let given = Given::new().set("ensure", "present").deferred("content");
    assert_eq!(FileEnsure::resolve(&given.parameters()).unwrap(), Some(FileEnsure::File));
    assert_eq!(FileEnsure::export(&given.parameters()).unwrap(), json!("file"));
    assert_eq!(given.asked(), ["ensure"]);
}

#[test]
fn a_word_that_waits_for_the_node_is_left_to_the_host() {
    let given = Given::new().deferred("ensure");
    assert!(matches!(FileEnsure::resolve(&given.parameters()), Err(DefinitionError::Parameter)));
}

#[test]
fn an_unknown_word_is_answered_with_the_canonical_ones() {
    let error = FileEnsure::resolve(&Given::new().set("ensure", "hunter2").parameters()).unwrap_err();
    let DefinitionError::Invalid(diagnostic) = error else { panic!("{error:?}") };
    assert_eq!((diagnostic.attribute.as_deref(), diagnostic.message.as_str()), (Some("ensure"), "`ensure` has no such value"));
    assert_eq!(diagnostic.hint.as_deref(), Some("use one of `file`, `directory`, `symlink`, `absent`"));
}

#[test]
fn what_a_type_makes_of_a_word_is_held_against_the_vocabulary_again() {
    let resolve = |word: &str| Broken::resolve(&Given::new().set("ensure", word).parameters());
    assert_eq!(resolve("on").unwrap(), Some(Broken::On));
    assert!(matches!(resolve("off"), Err(DefinitionError::Other(message)) if message == NOT_CANONICAL));
}
