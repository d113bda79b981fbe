import { describe, expect, test } from '@jest/globals';
import type { VirtualMachine } from '../../../../api/kubevirt/types.ts';
import { validateVirtualMachine } from '../../../../api/validation/index.ts';
import { USER } from '../../../../api/validation/requester.ts';
import { configured, gated } from '../../../support/instances.ts';
import { short } from './told.ts';

const vm = (spec: object, template: object = {}, more: object = {}): VirtualMachine =>
  structuredClone({
    metadata: { name: 'web', namespace: 'shop' },
    ...more,
    spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} }, ...template } }, ...spec },
  });
const domain = (given: object): object => ({ domain: { devices: {}, ...given } });

test.each<[string, VirtualMachine, string[]]>([
  ['without memory: it may get it until it starts', vm({}), []],
  ['with an empty template', vm({ template: {} }), []],
  ['run in two ways', vm({ running: true }), ['Invalid spec.running']],
  ['run in no way', vm({ runStrategy: undefined }), ['Invalid spec.running']],
  ['run in an unknown way', vm({ runStrategy: 'Sometimes' }), ['Invalid spec.runStrategy']],
  ['that waits for a migration', vm({ runStrategy: 'WaitAsReceiver' }), []],
  [
    'whose template is refused as its VMI would be',
    vm({}, { hostname: 'a.b' }),
    ['Invalid spec.template.spec.hostname'],
  ],
  [
    'with reserved labels',
    vm({ template: { metadata: { labels: { 'kubevirt.io/nodeName': 'n' } }, ...vm({}).spec.template } }),
    ['NotSupported spec.template.metadata.labels'],
  ],
  [
    'with a gone binding',
    vm({}, { networks: [{ name: 'n', pod: {} }], ...domain({ devices: { interfaces: [{ name: 'n', slirp: {} }] } }) }),
    ['Invalid spec.template.spec.domain.devices.interfaces[0]', 'Invalid spec.domain.devices.interfaces[0].slirp'],
  ],
  ['that grows', vm({}, domain({ memory: { guest: '1Gi', maxGuest: '4Gi' } })), []],
  [
    'too small to grow',
    vm({}, domain({ memory: { guest: '512Mi', maxGuest: '4Gi' } })),
    ['Invalid spec.template.spec.domain.memory.guest'],
  ],
  [
    'with a name too long',
    vm({}, {}, { metadata: { name: 'n'.repeat(220), namespace: 'shop' } }),
    ['Invalid metadata.name'],
  ],
  ['that is being deleted', vm({ runStrategy: 'Sometimes' }, {}, { metadata: { deletionTimestamp: 'x' } }), []],
])('a VM %s', (_, given, expected) => {
  expect(short(validateVirtualMachine(given, configured()))).toEqual(expected);
});

test('a receiver has a gate', () => {
  expect(
    short(validateVirtualMachine(vm({ runStrategy: 'WaitAsReceiver' }), gated([], ['DecentralizedLiveMigration']))),
  ).toEqual(['Invalid spec.runStrategy']);
});

test('growing is not judged where changes wait for a restart', () => {
  const given = vm({}, domain({ memory: { guest: '512Mi', maxGuest: '4Gi' } }));
  expect(validateVirtualMachine(given, configured({ vmRolloutStrategy: 'Stage' }))).toEqual([]);
});

describe('changes', () => {
  const causes = (given: VirtualMachine, old: VirtualMachine): string[] =>
    short(validateVirtualMachine(given, configured(), USER, old));
  const snapshot = { status: { snapshotInProgress: 's' } };
  const volumes = [{ name: 'a', emptyDisk: { capacity: '1Gi' } }];

  test.each<[string, VirtualMachine, VirtualMachine, string[]]>([
    ['of labels during a snapshot', vm({}, {}, snapshot), vm({}), []],
    ['of volumes during a snapshot', vm({}, { volumes }, snapshot), vm({}), ['NotSupported spec']],
    ['of running during a snapshot', vm({ runStrategy: 'Always' }, {}, snapshot), vm({}), ['NotSupported spec']],
    [
      'of running during a restore',
      vm({ runStrategy: 'Always' }, {}, { status: { restoreInProgress: 'r' } }),
      vm({}),
      ['NotSupported spec'],
    ],
    ['of words only', vm({ running: false, runStrategy: undefined }, {}, snapshot), vm({}), []],
  ])('%s', (_, given, old, expected) => {
    expect(causes(given, old)).toEqual(expected);
  });
});
