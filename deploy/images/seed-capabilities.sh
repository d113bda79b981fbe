#!/bin/sh
# Has libvirt find out once what this image's QEMU can do (0.4 s of a launcher's start, 4 s from a cold disk), and keeps the answer:
# seed-capabilities.sh DIRECTORY
# libvirt trusts it only for programs with the change times that it names: the init puts those of the running image in. What QEMU can do with KVM
# it trusts only on the same processor, microcode and kernel: so QEMU is asked about emulation alone, which is the same on any machine. With KVM
# libvirt asks again, as soon as it has started.
set -eu
emulator=/usr/bin/qemu-system-x86_64
work=$(mktemp -d)
chmod 755 "$work"
mkdir "$work/bin"
cat >"$work/bin/${emulator##*/}" <<'END'
#!/bin/sh
for argument; do
  shift
  case $argument in *accel=kvm:tcg) argument=${argument%kvm:tcg}tcg ;; esac
  set -- "$@" "$argument"
done
exec /usr/bin/qemu-system-x86_64 "$@"
END
chmod 755 "$work/bin/${emulator##*/}"
mkdir -m 700 "$work/run"
chown -R 107:107 "$work"
as_launcher() {
  setpriv --reuid 107 --regid 107 --clear-groups env -i PATH="$work/bin:$PATH" HOME="$work" \
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
# libvirt names the file by the digest of the emulator's path.
digest() { printf %s "$1" | sha256sum | cut -d ' ' -f 1; }
capabilities=libvirt/qemu/cache/capabilities
mkdir -p "$1/$capabilities"
sed "s#<emulator>.*</emulator>#<emulator>$emulator</emulator>#" \
  "$work/cache/$capabilities/$(digest "$work/bin/${emulator##*/}").xml" >"$1/$capabilities/$(digest "$emulator").xml"
chmod -R a+rX "$1"
if grep -r "<flag name='kvm'/>" "$1"; then
  echo "QEMU was asked about KVM after all" >&2
  exit 1
fi
rm -rf "$work"
