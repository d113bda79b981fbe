import { recordEvent } from '../../../activities/controller/record-event.ts';
import { GUEST_CALLS } from '../../../api/contract/guest-access.ts';
import type { GuestCall } from '../../../api/contract/guest-access.ts';
import type { InstanceSubresource } from '../../../api/subresources/catalogue.ts';
import { reachGuest, unpauseRefusal } from '../../../api/subresources/instance.ts';
import { readOptions } from '../../../api/subresources/options.ts';
import type { Answer } from './answer.ts';
import { refuse } from './answer.ts';
import { cancelEvacuation } from './evacuation.ts';
import type { ObjectName } from './objects.ts';
import { readInstance } from './objects.ts';
import type { Asked, SubresourcePorts } from './ports.ts';
import { NO_HOTPLUG } from './volumes.ts';

/** Answers what is asked of an instance, but for streams. @throws KubeError, GuestAccessError */
export const askInstance = (
  ports: SubresourcePorts,
  subresource: InstanceSubresource,
  object: ObjectName,
  asked: Asked,
): Promise<Answer> => {
  switch (subresource) {
    case 'evacuate/cancel':
      return cancelEvacuation(ports, object, asked, readInstance);
    case 'addvolume':
    case 'removevolume':
      return Promise.resolve(NO_HOTPLUG);
    case 'vnc/screenshot':
      return askGuest(ports, 'vncScreenshot', object, asked);
    default:
      return askGuest(ports, subresource, object, asked);
  }
};

const askGuest = async (
  { kube, guests, log }: SubresourcePorts,
  call: GuestCall,
  object: ObjectName,
  { body, query }: Asked,
): Promise<Answer> => {
  const read = readOptions(call === 'freeze' ? 'freeze' : 'other', body, query.getAll('dryRun'));
  if (read.refusal !== undefined) return read;
  if (call === 'unpause') {
    const refusal = unpauseRefusal(await kube.get('VirtualMachine', object));
    if (refusal !== undefined) return refuse(refusal);
  }
  const found = await readInstance(kube, object);
  if (found.refusal !== undefined) return found;
  const reached = reachGuest(call, found.vmi);
  if (reached.refusal !== undefined) return reached;
  if (read.dryRun && GUEST_CALLS[call] === 'PUT') return { status: 200 };
  const moveCursor = query.get('moveCursor');
  const answer = await guests.call(
    reached.guest,
    call,
    call === 'freeze' ? read.options : undefined,
    call === 'vncScreenshot' && moveCursor !== null ? { moveCursor } : undefined,
  );
  if (call === 'softreboot') {
    const ref = { ...object, uid: found.vmi.metadata?.uid ?? '' };
    const told = { reason: 'SoftRebooted', message: 'VirtualMachineInstance soft rebooted' } as const;
    await recordEvent({ kube, log }, { kind: 'VirtualMachineInstance', ref, ...told });
  }
  if (answer.bytes !== undefined) {
    return { status: 200, bytes: answer.bytes, contentType: answer.contentType ?? 'application/octet-stream' };
  }
  return { status: 200, ...(answer.body === undefined ? {} : { json: answer.body as object }) };
};
