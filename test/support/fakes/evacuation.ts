/* eslint-disable @typescript-eslint/require-await -- activities are asynchronous by contract; these act at once */
import type { ControllerActivities } from '../../../api/contract/activities.ts';
import type { EvacuationView, Leaving } from '../../../api/contract/evacuation.ts';
import type { ObjectRef } from '../../../api/contract/refs.ts';

/** A node of the simulated cluster that is to be emptied; the test says what the objects say. */
export interface FakeEvacuation {
  controller: Pick<
    ControllerActivities,
    'observeEvacuation' | 'createEvacuation' | 'tellBackoff' | 'withdrawEvacuation' | 'cancelEvacuation'
  >;
  view: EvacuationView;
  /** What was done, in order. */
  done: string[];
  /** An instance is asked to leave. */
  ask(name: string, more?: Partial<Leaving>): ObjectRef;
  /** What is known of it changes. */
  change(vmi: ObjectRef, more: Partial<Leaving>): void;
  /** Its migration has failed; RFC 3339. */
  fail(vmi: ObjectRef, at: string): void;
  /** It has left, or need not any more. */
  drop(vmi: ObjectRef): void;
}

export const newEvacuation = (parts: { refuse: (activity: string) => void }): FakeEvacuation => {
  const isOf =
    (vmi: ObjectRef) =>
    (one: Leaving): boolean =>
      one.vmi.uid === vmi.uid;
  const fake: FakeEvacuation = {
    view: { cordoned: true, leaving: [], unwanted: [] },
    done: [],
    ask: (name, more) => {
      const vmi = { namespace: 'shop', name, uid: `vmi-${name}` };
      fake.view.leaving.push({ vmi, by: 'eviction', ...more });
      return vmi;
    },
    change: (vmi, more) => {
      fake.view.leaving = fake.view.leaving.map((one) => (isOf(vmi)(one) ? { ...one, ...more } : one));
    },
    fail: (vmi, at) => {
      fake.view.leaving = fake.view.leaving.map(({ migration, ...one }) => {
        if (!isOf(vmi)(one)) return { ...one, ...(migration === undefined ? {} : { migration }) };
        const count = (one.failed?.count ?? 0) + 1;
        return { ...one, failed: { count, name: migration?.name ?? '', at, message: 'no room elsewhere' } };
      });
    },
    drop: (vmi) => {
      fake.view.leaving = fake.view.leaving.filter((one) => !isOf(vmi)(one));
    },
    controller: {
      observeEvacuation: async () => structuredClone(fake.view),
      createEvacuation: async ({ vmi }) => {
        parts.refuse('createEvacuation');
        const made = fake.done.filter((what) => what.startsWith(`migrate ${vmi.name}`)).length;
        const name = `evacuation-${vmi.name}-${made + 1}`;
        fake.done.push(`migrate ${vmi.name}`);
        fake.change(vmi, { migration: { name, phase: 'Pending' } });
        return { migration: name };
      },
      tellBackoff: async ({ vmi, failed, until }) => {
        fake.done.push(`${vmi.name} waits until ${until} after ${failed}`);
      },
      withdrawEvacuation: async ({ vmi }) => {
        parts.refuse('withdrawEvacuation');
        fake.done.push(`${vmi.name} may stay`);
        const { migration } = fake.view.leaving.find(isOf(vmi)) ?? {};
        fake.drop(vmi);
        if (migration === undefined || migration.phase === 'Running') return;
        fake.view.unwanted.push({ namespace: vmi.namespace, name: migration.name, uid: migration.name });
      },
      cancelEvacuation: async ({ migration }) => {
        fake.done.push(`cancel ${migration.name}`);
        fake.view.unwanted = fake.view.unwanted.filter(({ uid }) => uid !== migration.uid);
      },
    },
  };
  return fake;
};
