import type { Duplex } from 'node:stream';
import { reachGuest } from '../../../api/subresources/instance.ts';
import type { StreamRoute } from '../../../api/subresources/route.ts';
import type { Status } from '../../../api/subresources/status.ts';
import { readInstance, readInstanceOfVm } from './objects.ts';
import type { SubresourcePorts } from './ports.ts';

/** Opens a stream to the guest that is there now. @throws KubeError, GuestAccessError */
export const openStream = async (
  { kube, guests }: Pick<SubresourcePorts, 'kube' | 'guests'>,
  { resource, stream, namespace, name, forward }: StreamRoute,
  query: URLSearchParams,
): Promise<{ stream: Duplex; refusal?: undefined } | { refusal: Status }> => {
  const find = resource === 'virtualmachines' ? readInstanceOfVm : readInstance;
  const found = await find(kube, { namespace, name });
  if (found.refusal !== undefined) return found;
  const reached = reachGuest(stream, found.vmi);
  if (reached.refusal !== undefined) return reached;
  const params = {
    ...(forward === undefined ? {} : { port: String(forward.port), protocol: forward.protocol }),
    ...(TRUE.includes(query.get('preserveSession') ?? '') ? { preserveSession: 'true' } : {}),
  };
  return { stream: await guests.open(reached.guest, stream, params) };
};

/** As Go reads it. */
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
