import type { Logger } from 'pino';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { HostFacts } from '../../api/launcher/host-facts.ts';
import type { CopiedDisk } from '../../api/launcher/migration.ts';
import type { DomainManager } from '../domain-manager/index.ts';
import type { Memory } from '../domain-manager/memory.ts';

export interface MigrationPorts {
  readonly domains: DomainManager;
  readonly memory: Memory;
  readonly log: Logger;
  /** Where libvirt listens, as a path inside the Pod. */
  readonly libvirtSocket: string;
  /** Makes what a VMI's domain needs here, above all its disk images, those that are to be copied in the size given. @throws CommandRefused, ConversionError */
  readonly prepare: (vmi: VirtualMachineInstance, host: HostFacts, copied: readonly CopiedDisk[]) => Promise<void>;
}
