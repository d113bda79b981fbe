import { expect, test } from '@jest/globals';
import { readOptions } from '../../../../api/subresources/options.ts';

test.each`
  kind         | body                                                       | options
  ${'start'}   | ${undefined}                                               | ${{ dryRun: false }}
  ${'start'}   | ${null}                                                    | ${{ dryRun: false }}
  ${'start'}   | ${{ paused: true, dryRun: null }}                          | ${{ paused: true, dryRun: false }}
  ${'start'}   | ${{ paused: true, dryRun: ['All'], kind: 'StartOptions' }} | ${{ paused: true, dryRun: true }}
  ${'stop'}    | ${{ gracePeriod: 0 }}                                      | ${{ gracePeriod: 0, dryRun: false }}
  ${'restart'} | ${{ gracePeriodSeconds: null }}                            | ${{ dryRun: false }}
  ${'migrate'} | ${{ addedNodeSelector: { zone: 'a' } }}                    | ${{ addedNodeSelector: { zone: 'a' }, dryRun: false }}
  ${'freeze'}  | ${{ unfreezeTimeout: '5m0s' }}                             | ${{ unfreezeTimeout: '5m0s', dryRun: false }}
  ${'other'}   | ${{ whatever: 1 }}                                         | ${{ dryRun: false }}
`('$kind takes $body', ({ kind, body, options }) => {
  const { dryRun, ...others } = options as { dryRun: boolean };
  expect(readOptions(kind as 'start', body)).toEqual({ options: others, dryRun });
});

test.each`
  kind         | body                               | code   | field
  ${'start'}   | ${'paused'}                        | ${400} | ${''}
  ${'start'}   | ${[]}                              | ${400} | ${''}
  ${'start'}   | ${7}                               | ${400} | ${''}
  ${'start'}   | ${{ paused: 'yes' }}               | ${400} | ${'paused'}
  ${'stop'}    | ${{ gracePeriod: '5' }}            | ${400} | ${'gracePeriod'}
  ${'stop'}    | ${{ gracePeriod: 1.5 }}            | ${400} | ${'gracePeriod'}
  ${'stop'}    | ${{ gracePeriod: 1e30 }}           | ${400} | ${'gracePeriod'}
  ${'migrate'} | ${{ addedNodeSelector: ['a'] }}    | ${400} | ${'addedNodeSelector'}
  ${'migrate'} | ${{ addedNodeSelector: { a: 1 } }} | ${400} | ${'addedNodeSelector.a'}
  ${'other'}   | ${{ dryRun: 'All' }}               | ${400} | ${'dryRun'}
  ${'other'}   | ${{ dryRun: ['Some'] }}            | ${422} | ${'dryRun'}
`('$kind refuses $body with $code, naming "$field"', ({ kind, body, code, field }) => {
  const { refusal } = readOptions(kind as 'start', body);
  expect(refusal).toMatchObject({ code, status: 'Failure', details: { causes: [{ field }] } });
});

test('the query asks for a dry run too, and for nothing else', () => {
  expect(readOptions('start', {}, ['All'])).toMatchObject({ dryRun: true });
  expect(readOptions('start', {}, ['None']).refusal).toMatchObject({ code: 422, reason: 'Invalid' });
});
