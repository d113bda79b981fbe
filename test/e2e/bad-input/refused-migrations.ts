import { NAMESPACE } from '../support/vms.ts';

/** How long a target Pod may find no node (KubeVirt). */
export const UNSCHEDULABLE_TIMEOUT = 'kubevirt.io/migrationUnschedulablePodTimeoutSeconds';

/** A disk that is not shared, in two ways. */
export const DISKS = 'bad-disks';
/** Its disk is full. */
export const FULL = 'bad-full';
export const STOPPED = 'bad-stopped';
/** Nothing is the matter with it. */
export const FINE = 'bad-fine';

/** A VMIM that is refused as it is. */
interface Refused {
  what: string;
  name: string;
  spec: object;
  annotations?: Record<string, string>;
  /** Of the condition of a VMIM that was taken; without: admission refuses it. */
  reason?: string;
  /** Texts that the message must hold: the field or object, and the remedy. */
  says: string[];
}

export const REFUSED: Refused[] = [
  {
    what: 'a VMI that does not exist',
    name: 'of-nobody',
    spec: { vmiName: 'nobody' },
    says: ['spec.vmiName', `there is no VMI "nobody" in namespace ${NAMESPACE}`],
  },
  {
    what: 'a VM that is stopped',
    name: 'of-stopped',
    spec: { vmiName: STOPPED },
    says: ['spec.vmiName', `there is no VMI "${STOPPED}" in namespace ${NAMESPACE}`],
  },
  {
    what: 'a VM with disks that are not shared',
    name: 'of-disks',
    spec: { vmiName: DISKS },
    says: [
      ...[
        'spec.vmiName',
        'DisksNotLiveMigratable',
        `claim ${DISKS} has access mode ReadWriteOnce`,
        'needs ReadWriteMany',
      ],
      ...['volume host', 'set shared'],
    ],
  },
  {
    what: 'a node selector that matches nothing',
    name: 'to-nowhere',
    spec: { vmiName: FINE, addedNodeSelector: { 'virtflow.io/nowhere': 'here' } },
    reason: 'NotMigratable',
    says: ['no node other than', 'virtflow.io/nowhere=here', 'spec.addedNodeSelector'],
  },
  {
    what: 'a priority of its own',
    name: 'soon',
    spec: { vmiName: FINE, priority: 'soon' },
    says: ['spec.migrationPriority', 'the controller ranks migrations'],
  },
  {
    what: 'no name of a VMI',
    name: 'unnamed',
    spec: {},
    says: ['spec.vmiName: say which VMI moves'],
  },
  {
    what: 'a timeout that is no number',
    name: 'timeless',
    spec: { vmiName: FINE },
    annotations: { [UNSCHEDULABLE_TIMEOUT]: 'never' },
    reason: 'InvalidSpec',
    says: [UNSCHEDULABLE_TIMEOUT, '"never"', 'seconds'],
  },
];
