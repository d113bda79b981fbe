import { expect, test } from '@jest/globals';
import { lifecycle } from '../../../../../launcher/converter/concerns/lifecycle.ts';
import { host, vmi } from '../examples.ts';

test.each`
  rebootPolicy   | action
  ${'Terminate'} | ${'destroy'}
  ${'Reboot'}    | ${'restart'}
  ${undefined}   | ${undefined}
`('reboot policy $rebootPolicy: $action', ({ rebootPolicy, action }) => {
  const domain = rebootPolicy === undefined ? {} : { rebootPolicy: rebootPolicy };
  expect(lifecycle(vmi({ domain }), host()).on_reboot).toBe(action);
});
