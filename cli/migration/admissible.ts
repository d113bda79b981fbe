import type { VirtualMachine, VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import { remedyFor } from '../remedies.ts';
import { clause, command } from '../words.ts';
import { isOver, phaseOf, type Migration } from './objects.ts';

interface Asked {
  name: { namespace: string; name: string };
  vm?: VirtualMachine;
  vmi?: VirtualMachineInstance;
}

/**
 * Why a VM cannot be migrated now, as a sentence that names the object; undefined: it can. The controller checks again, so this only spares people
 * a migration that is refused a moment later.
 */
export function whyNotMigrate({ name, vm, vmi }: Asked, migrations: readonly Migration[]): string | undefined {
  const instance = `VirtualMachineInstance ${name.namespace}/${name.name}`;
  if (!vmi)
    return `VirtualMachine ${name.namespace}/${name.name} has no instance (${vm?.status?.printableStatus ?? 'no status yet'}): only a running VM can be migrated. Start it: ${command('start', name)} --wait`;
  if (vmi.metadata?.deletionTimestamp !== undefined) return `${instance} is being shut down: it cannot be migrated.`;
  const phase = vmi.status?.phase || 'Pending';
  if (phase !== 'Running')
    return `${instance} is ${phase}: only a running VM can be migrated. See: ${command('diagnose', name)}`;
  const open = migrations.find((migration) => !isOver(migration));
  if (open)
    return `${instance} is already being migrated by VirtualMachineInstanceMigration ${name.namespace}/${open.metadata?.name} (${phaseOf(open)}): wait for it, or ${command('cancel', name)}`;
  const conditions = new Map((vmi.status?.conditions ?? []).map((condition) => [condition.type, condition]));
  const paused = conditions.get('Paused');
  if (paused?.status === 'True' && paused.reason === 'PausedIOError')
    return `${instance} is paused by an I/O error (${clause(paused.message ?? '')}): remove its cause first.`;
  const migratable = conditions.get('LiveMigratable');
  const reason = clause(`${migratable?.reason}: ${migratable?.message}`);
  if (migratable?.status === 'False')
    return `${instance} cannot be live-migrated: ${reason}; ${remedyFor('NotMigratable', name, reason)}.`;
  return undefined;
}
