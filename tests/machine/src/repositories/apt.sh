# $1: packages as `NAME VERSION, …`; $2: `configure`, or nothing that matters.
mkdir -p /srv/repository/apt
cd /srv/repository/apt
echo "$1" | tr ',' '\n' | while read -r name version; do
    tree=$(mktemp -d)
    mkdir -p "$tree/DEBIAN" "$tree/usr/share/$name" "$tree/etc/$name"
    chmod 755 "$tree"
    echo "$version" > "$tree/usr/share/$name/version"
    echo "version=$version" > "$tree/etc/$name/$name.conf"
    echo "/etc/$name/$name.conf" > "$tree/DEBIAN/conffiles"
    {
        echo "Package: $name"
        echo "Version: $version"
        echo "Architecture: all"
        echo "Maintainer: Nobody <nobody@example.invalid>"
        [ "$name" != needs ] || echo "Depends: demo"
        [ "$name" != fights ] || echo "Conflicts: demo"
        echo "Description: for tests"
    } > "$tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -b "$tree" "${name}_${version}.deb" > /dev/null
    rm -r "$tree"
done
apt-ftparchive packages . > Packages
apt-ftparchive release . > Release
if [ "$2" = configure ]; then
    echo "deb [trusted=yes] file:/srv/repository/apt ./" > /etc/apt/sources.list
    apt-get update -qq
fi
