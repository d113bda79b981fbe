import { pino } from 'pino';
import { controllerActivities } from '../../activities/controller/index.ts';
import type { KubePort } from '../../activities/kube/port.ts';
import type { WorkflowPort } from '../../activities/temporal/port.ts';
import type { ControllerActivities } from '../../api/contract/activities.ts';
import { effectiveConfiguration } from '../../api/cluster-config/index.ts';
import { noWorkflows } from './no-workflows.ts';

/** The controller's activities on a real API server. @param configuration spec.configuration of the KubeVirt object */
export const activitiesOn = (
  kube: KubePort,
  { configuration = {}, workflows = noWorkflows }: { configuration?: object; workflows?: WorkflowPort } = {},
): ControllerActivities => {
  const config = effectiveConfiguration({ spec: { configuration } as object });
  return controllerActivities({
    ...{ kube, workflows, config: () => config, launcherImage: 'virtflow/launcher:test' },
    clock: () => new Date(),
    log: pino({ level: 'silent' }),
  });
};
