import { expect, test } from '@jest/globals';
import { requirementCauses } from '../../../../api/instancetypes/index.ts';
import { short } from '../validation/told.ts';
import { instancetype, preference } from './samples.ts';

const CPU = 'spec.template.spec.domain.cpu';

test.each<[string | undefined, { sockets: number; cores: number; threads: number } | undefined, string | undefined]>([
  [undefined, { sockets: 4, cores: 1, threads: 1 }, undefined],
  [undefined, { sockets: 2, cores: 2, threads: 1 }, `${CPU}.sockets`],
  ['cores', { sockets: 4, cores: 1, threads: 1 }, `${CPU}.cores`],
  ['threads', { sockets: 1, cores: 1, threads: 2 }, `${CPU}.threads`],
  ['any', { sockets: 2, cores: 2, threads: 1 }, undefined],
  ['any', { sockets: 1, cores: 1, threads: 1 }, `${CPU}.cores, ${CPU}.sockets, ${CPU}.threads`],
  ['spread', { sockets: 1, cores: 2, threads: 2 }, `${CPU}.sockets, ${CPU}.cores`],
  [undefined, undefined, `${CPU}.sockets`],
])('4 vCPUs as %s of a VM with %j: %s', (topology, cpu, field) => {
  const preferred = preference({
    requirements: { cpu: { guest: 4 } },
    ...(topology === undefined ? {} : { cpu: { preferredCPUTopology: topology } }),
  });
  const spec = { domain: { devices: {}, ...(cpu === undefined ? {} : { cpu }) } };
  expect(short(requirementCauses({ preference: preferred }, spec))).toEqual(
    field === undefined ? [] : [`NotFound ${field}`],
  );
});

test.each([
  [{ memory: { guest: '2Gi' } }, { memory: { guest: '1Gi' } }, ['NotFound spec.template.spec.domain.memory']],
  [{ memory: { guest: '2Gi' } }, {}, ['NotFound spec.template.spec.domain.memory']],
  [{ memory: { guest: '1024Mi' } }, { memory: { guest: '1Gi' } }, []],
])('memory: %j of a VM with %j: %j', (requirements, domain, expected) => {
  expect(
    short(requirementCauses({ preference: preference({ requirements }) }, { domain: { devices: {}, ...domain } })),
  ).toEqual(expected);
});

test('an instance type has to be enough, and the architecture the right one', () => {
  const requirements = { cpu: { guest: 4 }, memory: { guest: '2Gi' }, architecture: 'arm64' };
  const types = { instancetype: instancetype(), preference: preference({ requirements }) };
  const spec = { architecture: 'amd64', domain: { devices: {}, memory: { guest: '1Gi' } } };
  expect(short(requirementCauses(types, spec))).toEqual([
    'NotFound spec.instancetype',
    'NotFound spec.instancetype',
    'NotFound spec.template.spec.architecture',
  ]);
  const enough = { ...types, instancetype: instancetype({ cpu: { guest: 4 }, memory: { guest: '2Gi' } }) };
  expect(
    requirementCauses(enough, { architecture: 'arm64', domain: { devices: {}, memory: { guest: '2Gi' } } }),
  ).toEqual([]);
});
