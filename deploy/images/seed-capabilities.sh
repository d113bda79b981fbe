#!/bin/sh
# Has libvirt find out once what this image's QEMU can do (0.4 s of a launcher's start, 4 s from a cold disk), and keeps the answer:
# seed-capabilities.sh DIRECTORY
# libvirt trusts it only for programs with the change times that it names: the launcher puts those of the running image in. What QEMU can do with KVM
# it trusts only on the same processor, microcode and kernel: so KVM is hidden, and the answer is that for emulation on any machine. With KVM libvirt
# asks QEMU again, as soon as it has started.
set -eu
if [ -e /dev/kvm ] && [ "${KVM_HIDDEN:-}" = "" ]; then
  exec env KVM_HIDDEN=1 unshare --mount --propagation private "$0" "$@"
fi
work=$(mktemp -d)
mkdir -m 700 "$work/run"
if [ -e /dev/kvm ]; then
  : >"$work/kvm"
  chmod 000 "$work/kvm"
  mount --bind "$work/kvm" /dev/kvm
fi
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
