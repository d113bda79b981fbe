import { expect, test } from '@jest/globals';
import { installedPackages } from '../../../../../deploy/local/steps/apt.ts';

test('a package counts as installed only when it is whole: not removed with its configuration left, not half-way', () => {
  const status = [
    'Package: containerd\nStatus: install ok installed\nArchitecture: amd64',
    'Package: held\nStatus: hold ok installed',
    'Package: removed\nStatus: deinstall ok config-files',
    'Package: broken\nStatus: install ok half-configured',
  ].join('\n\n');
  expect(installedPackages(status)).toEqual(new Set(['containerd', 'held']));
});
