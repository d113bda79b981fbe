import type { VirtualMachineSpec } from '../kubevirt/types.ts';
import type { Cause } from './cause.ts';
import { invalid, notFound, oneOf, unsupported, when } from './cause.ts';

const MATCHERS = ['instancetype', 'preference'] as const;

type Matcher = NonNullable<VirtualMachineSpec['instancetype']>;

/** Instance type and preference are named, or taken from a volume. */
export const matcherCauses = (spec: VirtualMachineSpec): Cause[] =>
  MATCHERS.flatMap((key) => {
    const matcher: Matcher | undefined = spec[key];
    if (matcher === undefined) return [];
    const { name = '', kind = '', inferFromVolume = '', inferFromVolumeFailurePolicy } = matcher;
    const inferred = inferFromVolume !== '';
    return [
      ...when(name === '' && !inferred, () => notFound(`spec.${key}`, 'say which: set name, or inferFromVolume')),
      ...when(inferred && name !== '', () =>
        unsupported(`spec.${key}.name`, 'inferFromVolume finds the name: drop it'),
      ),
      ...when(inferred && kind !== '', () =>
        unsupported(`spec.${key}.kind`, 'inferFromVolume finds the kind: drop it'),
      ),
      ...oneOf(`spec.${key}.inferFromVolumeFailurePolicy`, inferFromVolumeFailurePolicy, ['Ignore', 'Reject']),
    ];
  });

/** Another name needs another revision. */
export const matcherUpdateCauses = (spec: VirtualMachineSpec, old: VirtualMachineSpec): Cause[] =>
  MATCHERS.flatMap((key) => {
    const [now, before]: (Matcher | undefined)[] = [spec[key], old[key]];
    if (now === undefined || before === undefined || !now.revisionName) return [];
    return when(now.name !== before.name && now.revisionName === before.revisionName, () =>
      invalid(`spec.${key}.revisionName`, 'it is the revision of the old name: drop it'),
    );
  });
