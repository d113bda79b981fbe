# date_capabilities CACHE: has libvirt believe what was found out about QEMU when the image was built (deploy/images/seed-capabilities.sh): probing takes 4 s.
# It does so only with the times, in seconds, of these programs, which are those of their unpacking. An unfit file costs the 4 s and nothing else.
date_capabilities() {
  capabilities=$1/libvirt/qemu/cache/capabilities
  [ -d "$capabilities" ] || return 0
  set -- $(stat -c '%Z %Y' /usr/lib/x86_64-linux-gnu/qemu /usr/bin/qemu-system-x86_64 /usr/sbin/libvirtd \
    /usr/lib/x86_64-linux-gnu/libvirt/connection-driver/*)
  modules=$2 qemu=$3 libvirt=0
  shift 4
  while [ $# -gt 0 ]; do
    if [ "$1" -gt "$libvirt" ]; then libvirt=$1; fi
    shift 2
  done
  sed -i -e "s#<selfctime>[0-9]*<#<selfctime>$libvirt<#" -e "s#<qemuctime>[0-9]*<#<qemuctime>$qemu<#" \
    -e "s#<qemumoddirmtime>[0-9]*<#<qemumoddirmtime>$modules<#" "$capabilities"/*.xml
}
