import { expect, test } from '@jest/globals';
import { probeRules } from '../../../../api/validation/probes.ts';
import { told } from './told.ts';

const networks = [{ name: 'main', pod: {} }];

test.each<[string, object, string[]]>([
  ['by HTTP', { readinessProbe: { httpGet: { port: 80 } }, networks }, []],
  ['by nothing', { livenessProbe: { periodSeconds: 5 }, networks }, ['Required spec.livenessProbe']],
  ['two ways', { readinessProbe: { exec: {}, guestAgentPing: {} } }, ['Invalid spec.readinessProbe']],
  [
    'by TCP without the Pod network',
    { readinessProbe: { tcpSocket: { port: 22 } } },
    ['Invalid spec.readinessProbe.tcpSocket'],
  ],
  [
    'by HTTP without the Pod network',
    { livenessProbe: { httpGet: { port: 80 } } },
    ['Invalid spec.livenessProbe.httpGet'],
  ],
  ['by the agent without the Pod network', { livenessProbe: { guestAgentPing: {} } }, []],
])('%s', (_, spec, expected) => {
  expect(told(probeRules, spec)).toEqual(expected);
});
