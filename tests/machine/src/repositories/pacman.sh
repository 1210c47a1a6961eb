# $1: packages as `NAME VERSION, …`; $2: `configure`, or nothing that matters.
mkdir -p /srv/repository/pacman
cd /srv/repository/pacman
echo "$1" | tr ',' '\n' | while read -r name version; do
    tree=$(mktemp -d)
    mkdir -p "$tree/usr/share/$name" "$tree/etc/$name"
    echo "$version" > "$tree/usr/share/$name/version"
    echo "version=$version" > "$tree/etc/$name/$name.conf"
    {
        echo "pkgname = $name"
        echo "pkgbase = $name"
        echo "pkgver = $version-1"
        echo "pkgdesc = for tests"
        echo "url = http://example.invalid"
        echo "builddate = 1700000000"
        echo "packager = Nobody <nobody@example.invalid>"
        echo "size = 20"
        echo "arch = any"
        echo "license = MIT"
        echo "backup = etc/$name/$name.conf"
        [ "$name" != needs ] || echo "depend = demo"
        [ "$name" != fights ] || echo "conflict = demo"
    } > "$tree/.PKGINFO"
    file="$PWD/$name-$version-1-any.pkg.tar.zst"
    (
        cd "$tree"
        bsdtar --uid 0 --gid 0 -czf .MTREE --format=mtree \
            --options='!all,use-set,type,uid,gid,mode,time,size,md5,sha256,link' .PKGINFO *
        bsdtar --uid 0 --gid 0 -cf - .MTREE .PKGINFO * | zstd -q -f -o "$file"
    )
    rm -r "$tree"
    repo-add -q tests.db.tar.gz "$file" > /dev/null
done
if [ "$2" = configure ]; then
    printf '[options]\nArchitecture = auto\nSigLevel = Never\n[tests]\nServer = file:///srv/repository/pacman\n' > /etc/pacman.conf
    pacman --noconfirm -Sy > /dev/null
fi
