import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { ControllerPorts } from '../ports.ts';
import { newInstanceOf } from './create-instance.ts';
import { statusWriter } from './publish-virtual-machine.ts';

type Ports = Parameters<typeof newInstanceOf>[0] & Parameters<typeof statusWriter>[0];

/** Creates the VMI and says so in the VM's status, which the entity does if that fails. @throws as newInstanceOf does */
export const createAndShow = (ports: Ports & Pick<ControllerPorts, 'log'>): ControllerActivities['createInstance'] => {
  const create = newInstanceOf(ports);
  const publish = statusWriter(ports);
  return async ({ report, ...request }) => {
    const { facts: created, made } = await create(request);
    if (report === undefined || created.untouched !== true) return created;
    const { vm } = request;
    try {
      const told = { ...report, instance: created.vmi.uid, instanceVersion: created.resourceVersion };
      await publish({ vm, report: told }, made);
      return { ...created, isShown: true };
    } catch (error) {
      ports.log.warn({ err: error, vm }, 'status not written; tried again');
      return created;
    }
  };
};
