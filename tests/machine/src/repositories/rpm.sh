# $1: packages as `NAME VERSION, …`; $2: `configure`, or nothing that matters; $3: `dnf` or `zypper`.
mkdir -p /srv/repository/rpm /srv/specs
cd /srv/repository/rpm
echo "$1" | tr ',' '\n' | while read -r name version; do
    relation=
    [ "$name" != needs ] || relation="Requires: demo"
    [ "$name" != fights ] || relation="Conflicts: demo"
    cat > "/srv/specs/$name.spec" <<SPEC
Name: $name
Version: $version
Release: 1
Summary: for tests
License: MIT
BuildArch: noarch
$relation
%description
For tests.
%install
mkdir -p %{buildroot}/usr/share/$name %{buildroot}/etc/$name
echo $version > %{buildroot}/usr/share/$name/version
echo version=$version > %{buildroot}/etc/$name/$name.conf
%files
/usr/share/$name/version
%config(noreplace) /etc/$name/$name.conf
SPEC
    rpmbuild -bb --quiet --define "_topdir /srv/specs/build" --define "_rpmdir /srv/repository/rpm" "/srv/specs/$name.spec"
done
createrepo_c -q .
if [ "$2" = configure ]; then
    mkdir -p /etc/yum.repos.d /etc/zypp/repos.d
    printf '[local]\nname=local\nbaseurl=file:///srv/repository/rpm\ngpgcheck=0\nenabled=1\n' > /etc/yum.repos.d/local.repo
    cp /etc/yum.repos.d/local.repo /etc/zypp/repos.d/local.repo
    if [ "$3" = zypper ]; then
        zypper --non-interactive --quiet refresh
    else
        dnf -q makecache
    fi
fi
