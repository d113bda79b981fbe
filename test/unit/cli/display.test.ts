import { expect, test } from '@jest/globals';
import { bar, inLines } from '../../../cli/display.ts';

test('without a terminal each new headline is a line, and a detail that changes is one every five seconds', () => {
  const lines: string[] = [];
  let ms = 1_000_000;
  const display = inLines(
    (line) => lines.push(line),
    () => ms,
  );
  const show = (headline: string, detail?: string): void => display.show({ headline, ...(detail && { detail }) });
  show('Pending');
  show('Running', '10 %');
  ms += 4_999;
  show('Running', '20 %');
  ms += 1;
  show('Running', '30 %');
  show('Running', '31 %');
  show('Succeeded');
  display.succeed('web runs on node-b');
  expect(lines).toEqual(['Pending', 'Running: 10 %', 'Running: 30 %', 'Succeeded', 'web runs on node-b']);
});

test('something that stands still is said again every five seconds', () => {
  const lines: string[] = [];
  let ms = 1_000_000;
  const display = inLines(
    (line) => lines.push(line),
    () => ms,
  );
  for (let second = 0; second <= 10; second += 1, ms += 1000) display.show({ headline: 'Scheduling' });
  expect(lines).toEqual(['Scheduling', 'Scheduling', 'Scheduling']);
});

test.each([
  [0, '░░░░'],
  [0.5, '██░░'],
  [1, '████'],
  [1.7, '████'],
  [-1, '░░░░'],
])('a share of %d of four columns is %s', (share, text) => {
  expect(bar(share, 4)).toBe(text);
});
