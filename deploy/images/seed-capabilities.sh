#!/bin/sh
# Has libvirt find out once what this image's QEMU can do (4 s of a launcher's start), and keeps the answer: seed-capabilities.sh DIRECTORY
# libvirt trusts it only for programs with the change times that it names: the launcher's init puts those of the running image in.
set -eu
work=$(mktemp -d)
mkdir -m 700 "$work/run"
chown -R 107:107 "$work"
as_launcher() {
  setpriv --reuid 107 --regid 107 --clear-groups env -i PATH="$PATH" HOME="$work" \
    XDG_RUNTIME_DIR="$work/run" XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache" "$@"
}
as_launcher libvirtd --pid-file "$work/run/libvirtd.pid" 2>"$work/log" &
daemon=$!
socket=$work/run/libvirt/libvirt-sock
tries=0
until [ -S "$socket" ]; do
  tries=$((tries + 1))
  [ $tries -lt 150 ] || { cat "$work/log" >&2; exit 1; }
  sleep 0.2
done
as_launcher virsh --quiet --connect "qemu+unix:///session?socket=$socket" domcapabilities --virttype qemu >/dev/null
kill "$(cat "$work/run/libvirtd.pid")" # the daemon, not the subshell that started it
wait $daemon 2>/dev/null || true
mkdir -p "$1"
cp -R "$work/cache/." "$1"
chmod -R a+rX "$1"
find "$1" -type f
rm -rf "$work"
