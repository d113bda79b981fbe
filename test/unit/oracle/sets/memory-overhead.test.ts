import { expect, test } from '@jest/globals';
import { memoryOverhead } from '../../../../activities/controller/launch-manifest/index.ts';
import { compareOverhead } from '../../../oracle/sets/memory-overhead.ts';
import { vmi } from '../../launcher/converter/examples.ts';

const { spec } = vmi();
const bytes = memoryOverhead({ spec }, { defaultArchitecture: 'amd64' });

test('a byte more or less is a difference', () => {
  expect(compareOverhead({ spec, ratio: '', overheadBytes: bytes })).toEqual({ kind: 'equal' });
  expect(compareOverhead({ spec, ratio: '', overheadBytes: bytes + 1 })).toMatchObject({ kind: 'different' });
});

test('the ratio is heeded', () => {
  expect(compareOverhead({ spec, ratio: '2', overheadBytes: bytes })).toMatchObject({ kind: 'different' });
});
