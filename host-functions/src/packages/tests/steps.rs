//! What is done in a machine, by the tests above. Nothing here is run by itself.

use std::time::{Duration, Instant};

use super::*;

#[test]
#[ignore = "run in a machine, by another test"]
fn a_package_is_installed_with_what_it_needs() {
    let mut context = attempt(&[("needs", &["read", "install"]), ("demo", &["read"])]);
    let before = find(&mut context, "needs");
    assert_eq!((before.state, before.version, before.candidate), (State::NotInstalled, None, Some(version("1.0"))));
    let install = transaction(vec![change("needs", ChangeKind::Install(None))]);
    let changed = packages::Host::apply(&mut context, manager(), install.clone()).unwrap();
    let came = |name: &str, requested| (name.to_owned(), None, Some(version("1.0")), requested);
    assert_eq!(told(&changed), [came("demo", false), came("needs", true)]);
    assert_eq!(find(&mut context, "needs").state, State::Installed);
    assert_eq!(shell("cat /usr/share/demo/version"), "1.0\n");
    let again = packages::Host::apply(&mut context, manager(), install);
    assert!(matches!(again, Err(CallError::Changed(_))), "{again:?}");
    let unknown = context.query(manager(), vec![subject("nosuch")], Detail::empty());
    assert!(matches!(unknown, Err(CallError::Denied(_))), "its effects do not name it");
}

#[test]
#[ignore = "run in a machine, by another test"]
fn reading_changes_nothing_and_is_not_repeated() {
    let mut context = attempt(&[("demo", &["read"]), ("nosuch", &["read"])]);
    context.set_phase(Phase::Check);
    let before = everything();
    assert_eq!(find(&mut context, "demo").state, State::Installed);
    let nosuch = find(&mut context, "nosuch");
    assert_eq!((nosuch.state, nosuch.candidate), (State::NotInstalled, None));
    assert!(context.index(manager()).unwrap().age_seconds.is_none_or(|age| age < 3600));
    assert_eq!(everything(), before, "nothing is written");
    let (remove, install) = match manager() {
        Manager::Apt => ("dpkg --remove --force-depends demo", "dpkg -i /srv/repository/apt/demo_1.0.deb"),
        Manager::Dnf | Manager::Zypper => ("rpm -e --nodeps demo", "rpm -i /srv/repository/rpm/noarch/demo-1.0-1.noarch.rpm"),
        Manager::Pacman => {
            ("pacman --noconfirm -Rdd demo", "pacman --noconfirm -U /srv/repository/pacman/demo-1.0-1-any.pkg.tar.zst")
        }
        Manager::Apk => ("apk del -q needs; apk add -q '!demo'", "sed -i '/!demo/d' /etc/apk/world; apk add -q needs"),
    };
    shell(remove);
    assert_eq!(find(&mut context, "demo").state, State::Installed, "what was read is told again");
    context.set_phase(Phase::Verify);
    assert_ne!(find(&mut context, "demo").state, State::Installed, "verification reads anew");
    shell(install);
    context.node().packages().invalidate();
    context.set_phase(Phase::Check);
    assert_eq!(find(&mut context, "demo").state, State::Installed);
}

#[test]
#[ignore = "run in a machine, by another test"]
fn the_index_is_fetched_and_a_package_upgraded() {
    let mut context = attempt(&[("demo", &["read", "upgrade"])]);
    context.set_phase(Phase::Perform);
    context.refresh_index(manager()).unwrap();
    context.set_phase(Phase::Apply);
    let refused = attempt(&[("demo", &["read"])]).refresh_index(manager());
    assert!(matches!(refused, Err(CallError::Denied(_))), "a shared action is no change of a resource: {refused:?}");
    assert_eq!(find(&mut context, "demo").candidate, Some(version("2.0")));
    let upgrade = transaction(vec![change("demo", ChangeKind::Upgrade(Some(version("2.0"))))]);
    let changed = packages::Host::apply(&mut context, manager(), upgrade).unwrap();
    assert_eq!(told(&changed), [("demo".to_owned(), Some(version("1.0")), Some(version("2.0")), true)]);
    assert_eq!(shell("cat /usr/share/demo/version"), "2.0\n");
}

#[test]
#[ignore = "run in a machine, by another test"]
fn what_nobody_asked_for_is_denied() {
    let before = shell("cat /usr/share/demo/version /usr/share/needs/version");
    let attempt = || attempt(&[("demo", &["remove"]), ("fights", &["install"]), ("extra", &["install"])]);
    let denied = |changes| match packages::Host::apply(&mut attempt(), manager(), transaction(changes)) {
        Err(CallError::Denied(denial)) => format!("{} {denial}", denial.subject),
        other => format!("{other:?}"),
    };
    let also = denied(vec![change("fights", ChangeKind::Install(None)), change("other", ChangeKind::Install(None))]);
    assert!(also.contains("other"), "{also}");
    let option = denied(vec![change("--force-yes", ChangeKind::Install(None))]);
    assert!(option.contains("effects do not name"), "{option}");
    // dnf and apt would remove `needs` with `demo`; the others say themselves that they cannot.
    let removal = denied(vec![change("demo", ChangeKind::Remove)]);
    assert!(removal.contains("remove needs") || removal.contains("Unsupported"), "{removal}");
    let conflict = denied(vec![change("fights", ChangeKind::Install(None))]);
    assert!(conflict.contains("remove demo") || conflict.contains("Unsupported") || conflict.contains("Other"), "{conflict}");
    let mut context = attempt();
    let install = || transaction(vec![change("extra", ChangeKind::Install(None))]);
    let other = transaction(vec![change("other", ChangeKind::Install(None))]);
    assert!(matches!(packages::Host::apply(&mut context, manager(), other), Err(CallError::Denied(_))));
    let after = packages::Host::apply(&mut context, manager(), install());
    assert!(
        matches!(&after, Err(CallError::Denied(denial)) if denial.to_string().contains("was denied in this attempt")),
        "{after:?}"
    );
    assert!(!context.let_change_through(), "nothing has begun");
    let odd = context.query(manager(), vec![subject("demo")], Detail::empty()).unwrap();
    assert_eq!(odd[0].state, State::Installed);
    assert_eq!(shell("cat /usr/share/demo/version /usr/share/needs/version"), before);
    assert!(!std::path::Path::new("/usr/share/fights").exists() && !std::path::Path::new("/usr/share/other").exists());
}

#[test]
#[ignore = "run in a machine, by another test"]
fn packages_are_removed() {
    let mut context = attempt(&[("demo", &["purge"]), ("needs", &["purge"]), ("other", &["install"])]);
    let changes =
        vec![change("needs", ChangeKind::Purge), change("demo", ChangeKind::Purge), change("other", ChangeKind::Install(None))];
    let changed = packages::Host::apply(&mut context, manager(), transaction(changes)).unwrap();
    let gone = |name: &str, at: &str| (name.to_owned(), Some(version(at)), None, true);
    let expected = [gone("demo", "2.0"), gone("needs", "1.0"), ("other".to_owned(), None, Some(version("1.0")), true)];
    assert_eq!(told(&changed), expected);
    assert!(!std::path::Path::new("/etc/demo/demo.conf").exists());
    assert_eq!(find(&mut context, "demo").state, State::NotInstalled);
}

#[test]
#[ignore = "run in a machine, by another test"]
fn apt_holds_a_package() {
    let mut context = attempt(&[("demo", &["install", "hold", "unhold", "upgrade", "downgrade"])]);
    let mut apply = |changes| packages::Host::apply(&mut context, Manager::Apt, transaction(changes));
    apply(vec![change("demo", ChangeKind::Install(Some("1.0".into()))), change("demo", ChangeKind::Hold)]).unwrap();
    let held = apply(vec![change("demo", ChangeKind::Upgrade(None))]);
    assert!(matches!(held, Err(CallError::Changed(_))), "{held:?}");
    assert_eq!(shell("apt-mark showhold"), "demo\n");
    let changed = apply(vec![change("demo", ChangeKind::Unhold), change("demo", ChangeKind::Upgrade(None))]).unwrap();
    assert_eq!(told(&changed), [("demo".to_owned(), Some("1.0".to_owned()), Some("2.0".to_owned()), true)]);
    assert_eq!(shell("apt-mark showhold"), "");
    apply(vec![change("demo", ChangeKind::Hold)]).unwrap();
    let mut over = transaction(vec![change("demo", ChangeKind::Downgrade("1.0".into()))]);
    over.change_held = true;
    packages::Host::apply(&mut context, Manager::Apt, over).unwrap();
    let demo = find(&mut context, "demo");
    assert_eq!((demo.version.as_deref(), demo.held, demo.candidate.as_deref()), (Some("1.0"), true, Some("2.0")));
    let mut apply = |changes| packages::Host::apply(&mut context, Manager::Apt, transaction(changes));
    apply(vec![change("demo", ChangeKind::Unhold)]).unwrap();
}

#[test]
#[ignore = "run in a machine, by another test"]
fn apt_keeps_or_replaces_configuration_files() {
    let mut context = attempt(&[("demo", &["install", "upgrade", "downgrade", "remove", "purge"])]);
    let mut apply = |kind, configuration_files| {
        let transaction = packages::Transaction { configuration_files, ..transaction(vec![change("demo", kind)]) };
        packages::Host::apply(&mut context, Manager::Apt, transaction).unwrap();
        std::fs::read_to_string("/etc/demo/demo.conf").unwrap_or_default()
    };
    std::fs::write("/etc/demo/demo.conf", "by hand\n").unwrap();
    let (keep, replace) = (packages::ConfigurationFiles::Keep, packages::ConfigurationFiles::Replace);
    assert_eq!(apply(ChangeKind::Upgrade(Some("2.0".into())), keep), "by hand\n");
    assert_eq!(apply(ChangeKind::Downgrade("1.0".into()), replace), "version=1.0\n");
    std::fs::write("/etc/demo/demo.conf", "by hand\n").unwrap();
    assert_eq!(apply(ChangeKind::Remove, keep), "by hand\n");
    assert_eq!(find(&mut context, "demo").state, State::ConfigurationFiles);
    let purge = transaction(vec![change("demo", ChangeKind::Purge)]);
    let changed = packages::Host::apply(&mut context, Manager::Apt, purge).unwrap();
    assert_eq!(told(&changed), [], "nothing that was installed has changed");
    assert!(!std::path::Path::new("/etc/demo/demo.conf").exists());
    assert_eq!(find(&mut context, "demo").state, State::NotInstalled);
}

#[test]
#[ignore = "run in a machine, by another test"]
fn apt_installs_a_package_file() {
    let file = std::fs::read("/srv/repository/apt/other_1.0.deb").unwrap();
    let digest = crate::testing::digest_of(&file);
    let mut rights = attempt(&[("other", &["install"]), ("demo", &["install"])]).rights().clone();
    let asset = crate::assets::AssetName::Plain(digest);
    rights.assets.insert(asset.clone(), crate::rights::Sensitivity::Plain);
    let assets = TestAssets(std::collections::BTreeMap::from([(digest, file)]));
    let node = Arc::new(Node::open(std::path::Path::new("/"), &[]).unwrap());
    let mut context = attempt_on(node, rights, Arc::new(assets), Arc::new(TestGate(true.into())));
    let keep = packages::ConfigurationFiles::Keep;
    let mut install = |name: &str, version: Option<&str>| {
        let change = change(name, ChangeKind::Install(version.map(str::to_owned)));
        context.install_file(Manager::Apt, asset.to_string(), change, keep)
    };
    assert!(matches!(install("demo", None), Err(CallError::InvalidArgument(text)) if text.contains("other 1.0")));
    assert!(matches!(install("other", Some("2.0")), Err(CallError::InvalidArgument(_))));
    let changed = install("other", Some("1.0")).unwrap();
    assert_eq!(told(&changed), [("other".to_owned(), None, Some("1.0".to_owned()), true)]);
    assert_eq!(shell("ls -A /var/cache | grep runtime || true"), "", "the file is gone again");
}

#[test]
#[ignore = "run in a machine, by another test"]
fn apt_waits_for_the_lock_and_names_its_holder() {
    let script = "import fcntl,time; f=open('/var/lib/dpkg/lock-frontend','w'); fcntl.lockf(f,fcntl.LOCK_EX); print('held',flush=True); time.sleep(4)";
    let mut holder = Command::new("python3").args(["-c", script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut [0; 5]).unwrap();
    let mut context = attempt(&[("demo", &["install", "hold"])]);
    context.set_deadline(Instant::now() + Duration::from_secs(2));
    let install = || transaction(vec![change("demo", ChangeKind::Install(None))]);
    let busy = packages::Host::apply(&mut context, Manager::Apt, install());
    assert!(matches!(&busy, Err(CallError::Busy(text)) if text.contains("python3")), "{busy:?}");
    context.set_deadline(Instant::now() + Duration::from_secs(60));
    packages::Host::apply(&mut context, Manager::Apt, install()).unwrap();
    holder.wait().unwrap();
}

#[test]
#[ignore = "run in a machine, by another test"]
fn apt_tells_what_broke_off() {
    shell("dpkg --unpack --force-all /srv/repository/apt/demo_2.0.deb");
    let mut context = attempt(&[("demo", &["install"])]);
    let demo = find(&mut context, "demo");
    assert_eq!((demo.state, demo.detail.as_deref()), (State::Partial, Some("unpacked")));
    let install = transaction(vec![change("demo", ChangeKind::Install(Some("2.0".into())))]);
    let finished = packages::Host::apply(&mut context, Manager::Apt, install);
    assert_eq!(find(&mut context, "demo").state, State::Installed, "{finished:?}");
}

#[test]
#[ignore = "run in a machine, by another test"]
fn apk_is_not_on_debian() {
    let mut context = attempt(&[("demo", &["read"])]);
    let missing = context.query(Manager::Apk, vec![subject("demo")], Detail::empty());
    assert!(matches!(missing, Err(CallError::Unsupported(_))), "{missing:?}");
    let odd = context.query(Manager::Apt, vec![subject("demo"); 257], Detail::empty());
    assert!(matches!(odd, Err(CallError::TooLarge(_))));
}

/// Installs each of these packages from a thread of its own, all of which wait for the same transaction to end. What each gave.
fn install_each_at_once(names: &[&str]) -> Vec<Result<Vec<String>, String>> {
    let node = Arc::new(Node::open(std::path::Path::new("/"), &[]).unwrap());
    let under_way = node.packages().begin(Instant::now() + Duration::from_secs(60)).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = names
            .iter()
            .map(|name| {
                let node = Arc::clone(&node);
                scope.spawn(move || {
                    let mut context = attempt_of(&node, &[(name, &["read", "install"])]);
                    let install = transaction(vec![change(name, ChangeKind::Install(None))]);
                    let made = packages::Host::apply(&mut context, manager(), install);
                    made.map(|changed| changed.into_iter().map(|c| c.name).collect()).map_err(|error| error.to_string())
                })
            })
            .collect();
        // Long enough for all of them to come to where they wait.
        std::thread::sleep(Duration::from_secs(1));
        drop(under_way);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
#[ignore = "run in a machine, by another test"]
fn what_waits_is_made_as_one() {
    let made = install_each_at_once(&["needs", "other"]);
    let names = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    assert_eq!(made, [names(&["demo", "needs"]), names(&["demo", "other"])], "each with what came along");
}

#[test]
#[ignore = "run in a machine, by another test"]
fn what_fails_together_is_made_by_each() {
    shell("apt-get purge -qq -y other");
    let made = install_each_at_once(&["other", "nosuch"]);
    assert_eq!(made[0], Ok(vec!["other".to_owned()]));
    assert!(made[1].is_err(), "{made:?}");
}
