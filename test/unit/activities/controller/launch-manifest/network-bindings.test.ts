import { expect, test } from '@jest/globals';
import { configured, withDomain } from '../../../../support/instances.ts';
import { render } from './render.ts';

test('a binding that no plug-in of the cluster makes is named', () => {
  const vmi = withDomain({ devices: { interfaces: [{ name: 'a', binding: { name: 'mist' } }] } });
  expect(() => render(vmi)).toThrow(/interfaces\[0\]\.binding\.name: "mist"/);
  const config = configured({ network: { binding: { mist: { sidecarImage: 'x' } } } });
  expect(() => render(vmi, { config })).not.toThrow();
});
