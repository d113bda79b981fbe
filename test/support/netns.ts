import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

/** Runs a program to its end and returns its output. */
export const sh = (command: string, input?: string): string =>
  execFileSync('sh', ['-ec', command], { encoding: 'utf8', ...(input === undefined ? {} : { input }), stdio: 'pipe' });

/** A network namespace of this test's own, and a way to run things in it. */
export interface Namespace {
  name: string;
  path: string;
  run: (command: string) => string;
  remove: () => void;
}

export const addNamespace = (): Namespace => {
  const name = `vft-${randomBytes(4).toString('hex')}`;
  sh(`ip netns add ${name} && ip -n ${name} link set lo up`);
  const path = `/run/netns/${name}`;
  return {
    name,
    path,
    run: (command) =>
      execFileSync('nsenter', [`--net=${path}`, 'sh', '-ec', command], { encoding: 'utf8', stdio: 'pipe' }),
    remove: () => void sh(`ip netns del ${name}`),
  };
};
