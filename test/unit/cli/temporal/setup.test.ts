import { expect, test } from '@jest/globals';
import { isCloud } from '../../../../cli/temporal/setup.ts';

test.each([
  ['ns.acct.tmprl.cloud:7233', true],
  ['us-east-1.aws.api.temporal.io:7233', true],
  ['temporal.example.com:7233', false],
  ['10.0.0.1:7233', false],
  ['tmprl.cloud.example.com:7233', false],
])('%s is Temporal Cloud: %s', (address, cloud) => {
  expect(isCloud(address)).toBe(cloud);
});
