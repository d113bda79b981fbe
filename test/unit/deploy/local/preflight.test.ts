import { expect, test } from '@jest/globals';
import { execa } from 'execa';

/** Runs the checks in a shell where the named commands answer as given. */
async function preflight(command: string, fakes: Record<string, string> = {}): Promise<string> {
  const functions = Object.entries(fakes).map(([name, body]) => `${name}() { ${body}; }`);
  const script = ['set -euo pipefail', 'cache=$(mktemp -u)', '. deploy/local/preflight.sh', ...functions];
  const result = await execa('bash', ['-c', [...script, `preflight ${command}`].join('\n')], {
    reject: false,
    all: true,
  });
  return result.all;
}

const root = { id: 'echo 0' };
const without = (name: string) => ({ command: `[ "$2" != ${name} ]` });

test.each([
  ['up', { uname: 'echo Darwin' }, /runs on Linux only \(this is Darwin\)/],
  ['up', { uname: '[ $1 = -m ] && echo aarch64 || echo Linux' }, /runs on x86_64 only \(this is aarch64\)/],
  ['up', { id: 'echo 1000' }, /needs root .* sudo -E \.\/dev up$/],
  ['down', { id: 'echo 1000' }, /needs root/],
  ['up', { ...root, ...without('go') }, /go is missing: install Go 1\.21 or later/],
  ['demo', { ...root, ...without('python3') }, /python3 is missing/],
  ['test e2e', { ...root, ...without('cc'), need_tool: '[ $1 != gcc ] || fail "no C compiler"' }, /no C compiler/],
  ['up', { ...root, df: 'printf "Avail\\n 3G\\n"' }, /has 3 GiB free, 12 GiB are needed/],
])('%s with %j says in one sentence what is missing', async (command, fakes, sentence) => {
  const said = await preflight(command, fakes);
  expect(said).toMatch(sentence);
  expect(said.split('\n')).toHaveLength(1);
});

test('a port that is taken on every address is named, with what it is for', async () => {
  const said = await preflight('up', {
    ...root,
    need_tool: ':',
    df: 'printf "Avail\\n 90G\\n"',
    cluster_is_there: 'false',
    listening: 'echo 192B',
    awk: 'return 1',
  });
  expect(said).toMatch(/port 6443 \(for Kubernetes\) is taken on every address/);
});

test('sections that only read the sources need neither root nor Go', async () => {
  expect(await preflight('test unit workflow', { id: 'echo 1000', ...without('go') })).toBe('');
});
