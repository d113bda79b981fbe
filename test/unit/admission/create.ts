import { expect } from '@jest/globals';
import { ManifestError, renderLaunchManifest } from '../../../activities/controller/launch-manifest/index.ts';
import { migrationFacts } from '../../../activities/facts/migration.ts';
import type { Fresh } from '../../../api/defaults/index.ts';
import { newInstance, withDefaults } from '../../../api/defaults/index.ts';
import type { VirtualMachineInstance } from '../../../api/kubevirt/types.ts';
import { causesAgainstStart } from '../../../api/validation/index.ts';
import { parseInstance, parseMigration, parseVirtualMachine } from '../../../api/schemas/index.ts';
import { toInstance } from '../../../api/virtual-machine/index.ts';
import { ConversionError, toDomainXml } from '../../../launcher/converter/index.ts';
import type { AdmissionRequest, PatchOperation } from '../../../workers/controller/webhooks/review.ts';
import { judges } from '../../../workers/controller/webhooks/index.ts';
import { gated } from '../../support/instances.ts';
import { RICH_GATES, richInstance } from '../api/validation/samples.ts';
import { host } from '../launcher/converter/examples.ts';
import { ports } from '../workers/controller/webhooks/ports.ts';

const config = gated(RICH_GATES);
const fresh: Fresh = { uuid: () => '0b7e2a4e-95b0-4a6e-8a5f-3d7a3f8f1c11', now: '2026-01-01T00:00:00Z' };
const UID = '7d0b3f0e-1f5e-4b8c-9d9e-6a1f7b1f2c33';

const webhooks = judges({
  ...ports(config),
  cached: { instance: () => parseInstance(richInstance()), migrations: () => [] },
});

export interface Manifest {
  [key: string]: unknown;
}

/** The parts of an object that a patch changes. */
const patched = (object: Manifest, patch: PatchOperation[] = []): Manifest =>
  patch.reduce<Manifest>((before, operation) => {
    const { [operation.path.slice(1)]: _, ...rest } = before;
    return operation.op === 'remove' ? rest : { ...rest, [operation.path.slice(1)]: operation.value };
  }, object);

export const isManifest = (value: unknown): value is Manifest =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Creates the object: through the mutating webhook, then the validating one. Undefined: refused, with a field for each cause. */
const admitted = async (plural: string, object: Manifest): Promise<Manifest | undefined> => {
  const request = (what: Manifest): AdmissionRequest => ({
    ...{ uid: 'x', kind: { group: 'kubevirt.io', kind: 'X' }, name: 'web', namespace: 'shop', operation: 'CREATE' },
    ...{ userInfo: { username: 'jane' }, object: what, dryRun: false },
  });
  const ask = async (kind: string, what: Manifest): Promise<Manifest | undefined> => {
    const verdict = await webhooks[`/${kind}/${plural}`]?.(request(what));
    if (verdict === undefined) throw new Error(`no webhook for ${plural}`);
    if (verdict.allowed) return patched(what, verdict.patch);
    const { causes = [] } = verdict.status.details ?? {};
    expect(causes.length).toBeGreaterThan(0);
    for (const { field, message } of causes) {
      expect(field).toMatch(/^[A-Za-z]/);
      expect(message).not.toMatch(/undefined|NaN|\[object/);
    }
    return undefined;
  };
  const stored = await ask('mutate', object);
  return stored === undefined ? undefined : await ask('validate', JSON.parse(JSON.stringify(stored)) as Manifest);
};

/** Changes one object into the other, as every user and as virtflow itself would: judged, whatever they are. @throws whatever fails */
export const change = async (plural: string, object: Manifest, oldObject: Manifest): Promise<void> => {
  for (const username of ['jane', 'system:serviceaccount:virtflow:virtflow-controller'])
    for (const kind of ['mutate', 'validate']) {
      const verdict = await webhooks[`/${kind}/${plural}`]?.({
        ...{ uid: 'x', kind: { group: 'kubevirt.io', kind: 'X' }, name: 'web', namespace: 'shop' },
        ...{ operation: 'UPDATE', userInfo: { username }, object, oldObject, dryRun: false },
      });
      expect(typeof verdict?.allowed).toBe('boolean');
    }
};

/** Where a manifest ends. */
export type End = 'refused' | 'not supported yet' | 'no Pod' | 'no domain' | 'domain';

/** What a start makes of a VMI that was taken: a Pod and a domain, or a refusal that names a field. @throws whatever else happens */
const started = (vmi: VirtualMachineInstance): End => {
  const complete = withDefaults({ ...vmi, metadata: { ...vmi.metadata, uid: UID } }, config);
  const causes = causesAgainstStart(complete, config);
  for (const { field } of causes) expect(field).not.toBe('');
  if (causes.length > 0) return 'not supported yet';
  try {
    const pod = renderLaunchManifest({
      ...{ vmi: complete, config, launcherImage: 'launcher:1', purpose: { attempt: 1 }, epoch: 1 },
    });
    expect(pod.spec?.containers.length).toBeGreaterThan(0);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    return 'no Pod';
  }
  try {
    const xml = toDomainXml(complete, host({ cpuSet: [...Array(64).keys()] }));
    expect(xml).not.toMatch(/undefined|NaN|\[object/);
    return 'domain';
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    expect(error.field).not.toBe('');
    return 'no domain';
  }
};

/** Creates an object as the API server has it created, and starts what it says, as far as that is pure. @throws whatever fails but by a refusal that names a field */
export const CREATE = {
  instance: async (object: Manifest): Promise<End> => {
    const stored = await admitted('virtualmachineinstances', object);
    return stored === undefined ? 'refused' : started(parseInstance(stored));
  },
  virtualMachine: async (object: Manifest): Promise<End> => {
    const stored = await admitted('virtualmachines', object);
    return stored === undefined
      ? 'refused'
      : started(newInstance(toInstance(parseVirtualMachine(stored)), config, fresh));
  },
  migration: async (object: Manifest): Promise<End> => {
    const stored = await admitted('virtualmachineinstancemigrations', object);
    if (stored === undefined) return 'refused';
    // What its workflow reads of it, and refuses by name.
    migrationFacts(parseMigration({ ...stored, metadata: { name: 'move', namespace: 'shop', uid: UID } }));
    return 'domain';
  },
};
