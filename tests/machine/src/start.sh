# Starts a machine: namespaces of its own around a copy-on-write view of a root. Run by `sh -c` with these variables:
#   STAGE    this text
#   LOWER    the root; it is never written to
#   MOUNT    an empty folder, covered in the machine's own mount namespace
#   CGROUP   the machine's cgroup on this machine
#   NAME     its host name
#   BINDS    pairs of a file here and its name under /run/machine/bin, a line each
#   INIT     what becomes process 1, in the machine
# Whoever started it holds the other end of standard input: when that closes, in whatever way, everything ends.
set -e

if [ -z "$STEP" ]; then
    echo $$ > "$CGROUP/cgroup.procs"
    exec 8<&0
    ( cat <&8 > /dev/null; kill -KILL $$ ) < /dev/null > /dev/null 2>&1 &
    exec 8<&-
    export STEP=mount
    exec unshare --cgroup --mount --uts --ipc --net sh -c "$STAGE"
fi

if [ "$STEP" = mount ]; then
    mount --make-rprivate /
    mount -t tmpfs -o size=4g,mode=755 tmpfs "$MOUNT"
    mkdir "$MOUNT/upper" "$MOUNT/work" "$MOUNT/root"
    mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$MOUNT/upper,workdir=$MOUNT/work" "$MOUNT/root"
    # The upper layer stays readable from outside, through this descriptor of the process that waits here.
    exec 9< "$MOUNT/upper"
    export STEP=enter
    exec unshare --pid --fork --kill-child=KILL sh -c "$STAGE"
fi

exec 9<&-
read -r pid _ < /proc/self/stat
cd "$MOUNT/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
# fs.*, kernel.* and vm.* are not a namespace's own: written in here, they would change this machine.
mount --bind proc/sys proc/sys
mount --bind proc/sys/net proc/sys/net
mount -o remount,bind,ro proc/sys
if [ -e proc/sysrq-trigger ]; then
    mount --bind proc/sysrq-trigger proc/sysrq-trigger
    mount -o remount,bind,ro proc/sysrq-trigger
fi
# Device nodes of its own, never bind mounts: an init system sets their modes.
mount -t tmpfs -o mode=755,nosuid tmpfs dev
mkdir dev/pts dev/shm
chmod 1777 dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mknod -m 666 dev/null c 1 3
mknod -m 666 dev/zero c 1 5
mknod -m 666 dev/full c 1 7
mknod -m 666 dev/random c 1 8
mknod -m 666 dev/urandom c 1 9
mknod -m 666 dev/tty c 5 0
mknod -m 600 dev/console c 1 3
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs run
mkdir -p run/machine/bin run/machine/old
echo "$BINDS" | while read -r from to; do
    [ -n "$to" ] || continue
    : > "run/machine/bin/$to"
    mount --bind "$from" "run/machine/bin/$to"
    mount -o remount,bind,ro "run/machine/bin/$to"
done
hostname "$NAME"
pivot_root . run/machine/old
cd /
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
umount -l /run/machine/old
rmdir /run/machine/old
ip link set lo up
echo "$pid"
exec env -i container=machine PATH="$PATH" sh -c "exec $INIT" < /dev/null > /dev/null 2>&1
