import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';

/** What the image's build found out about its QEMU, laid out like libvirt's cache directory. */
const SEEDED_CACHE = '/usr/lib/virtflow/libvirt-cache';

/** Gives libvirt the capabilities of QEMU that were probed when the image was built. The init dates them before libvirtd starts. */
export function seedCapabilities(cache: string): void {
  if (!existsSync(SEEDED_CACHE) || existsSync(join(cache, 'libvirt', 'qemu', 'cache', 'capabilities'))) return;
  cpSync(SEEDED_CACHE, cache, { recursive: true });
}
