# $1: packages as `NAME VERSION, …`; $2: `configure`, or nothing that matters.
mkdir -p /srv/repository/apk/x86_64
cd /srv/repository/apk/x86_64
echo "$1" | tr ',' '\n' | while read -r name version; do
    tree=$(mktemp -d)
    mkdir -p "$tree/usr/share/$name" "$tree/etc/$name"
    echo "$version" > "$tree/usr/share/$name/version"
    echo "version=$version" > "$tree/etc/$name/$name.conf"
    set -- --info "name:$name" --info "version:$version-r0" --info arch:x86_64 --info description:tests --info license:MIT \
        --info "origin:$name"
    [ "$name" != needs ] || set -- "$@" --info depends:demo
    [ "$name" != fights ] || set -- "$@" --info 'depends:!demo'
    apk mkpkg -q "$@" --files "$tree" --output "$name-$version-r0.apk"
    rm -r "$tree"
done
apk mkndx -q --allow-untrusted -o Packages.adb ./*.apk
if [ "$2" = configure ]; then
    # The packages are signed by nobody.
    echo "allow-untrusted" >> /etc/apk/config
    echo "v3 file:///srv/repository/apk" > /etc/apk/repositories
    apk update -q
fi
