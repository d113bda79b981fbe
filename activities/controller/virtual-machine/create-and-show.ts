import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ControllerPorts } from '../ports.ts';
import { createInstance } from './create-instance.ts';
import { publishVirtualMachine } from './publish-virtual-machine.ts';

type Ports = Parameters<typeof createInstance>[0] & Parameters<typeof publishVirtualMachine>[0];

/** Creates the VMI and says so in the VM's status, which the entity does if that fails. @throws as createInstance does */
export const createAndShow = (ports: Ports & Pick<ControllerPorts, 'log'>): ControllerActivities['createInstance'] => {
  const create = createInstance(ports);
  const publish = publishVirtualMachine(ports);
  return async ({ report, ...request }) => {
    const created = await create(request);
    if (report === undefined || created.untouched !== true) return created;
    const { vm } = request;
    try {
      await publish({ vm, report: { ...report, instance: created.vmi.uid, instanceVersion: created.resourceVersion } });
      return { ...created, isShown: true };
    } catch (error) {
      ports.log.warn({ err: error, vm }, 'status not written; tried again');
      return created;
    }
  };
};
