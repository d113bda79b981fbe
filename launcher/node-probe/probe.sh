#!/bin/sh
# What guests can have on this node, for the labels of its Node: probe.sh DIRECTORY. Runs once in the launcher's image, as root, before the node's
# worker starts; whatever cannot be found out is left out, and never keeps the worker from starting.
#   kvm           "usable", or why not
#   domain.xml    libvirt's domain capabilities, features.xml what the host's CPU model has, host.xml libvirt's capabilities
set -u
to=$1
uid=${PROBE_UID:-107} # the launchers'
work=$(mktemp -d)
mkdir -p "$to" && rm -f "$to"/*

# A /dev/kvm that is there may boot nothing. So a guest is booted: QEMU's firmware, and a boot sector that ends QEMU with a status of its own
# (mov al,0x21; out 0xf4,al; hlt) by isa-debug-exit, which makes it 2 * 0x21 + 1. A machine on which that takes seconds is none to run VMs on.
boots_a_guest() {
  { printf '\260\041\346\364\364\353\375'; head -c 503 /dev/zero; printf '\125\252'; } > "$work/sector"
  timeout -s KILL 10 qemu-system-x86_64 -accel kvm -cpu host -M pc -m 32 -nodefaults -display none -no-reboot \
    -drive "file=$work/sector,format=raw,if=ide" -device isa-debug-exit,iobase=0xf4,iosize=0x04 2> "$work/qemu"
  [ $? -eq 67 ]
}
if [ ! -c /dev/kvm ]; then
  echo 'there is no /dev/kvm' > "$to/kvm"
elif boots_a_guest; then
  echo usable > "$to/kvm"
else
  echo "/dev/kvm boots no guest: $(tail -n 1 "$work/qemu")" > "$to/kvm"
fi
virt=qemu
if [ "$(cat "$to/kvm")" = usable ]; then virt=kvm; chmod a+rw /dev/kvm; fi

# libvirtd as launchers run it: not root, with nothing of its own but this directory.
mkdir -m 700 "$work/run" && chown -R "$uid:$uid" "$work"
as_launcher() {
  timeout -s KILL 30 setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i PATH="$PATH" HOME="$work" \
    XDG_RUNTIME_DIR="$work/run" XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache" "$@"
}
socket=$work/run/libvirt/libvirt-sock
ask() { as_launcher virsh --quiet --connect "qemu+unix:///session?socket=$socket" "$@"; }
as_launcher libvirtd --pid-file "$work/run/libvirtd.pid" 2> "$work/log" &
tries=0
until [ -S "$socket" ] || [ $tries -ge 100 ]; do tries=$((tries + 1)); sleep 0.1; done

ask domcapabilities --virttype $virt > "$work/domain.xml" && cp "$work/domain.xml" "$to/"
ask hypervisor-cpu-baseline "$work/domain.xml" --features --virttype $virt > "$work/features.xml" && cp "$work/features.xml" "$to/"
ask capabilities > "$work/host.xml" && cp "$work/host.xml" "$to/"
kill "$(cat "$work/run/libvirtd.pid")"
rm -rf "$work"
ls -l "$to"
cat "$to/kvm"
exit 0
