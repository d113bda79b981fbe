import type { HostFacts } from '../../api/launcher/host-facts.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/types.ts';
import type { Alias, DomainPart, OnOff, State, YesNo } from './domain.ts';

/** One concern of the conversion: what it adds to the domain. Pure; @throws ConversionError when the VMI asks for the impossible. */
export type Concern = (vmi: VirtualMachineInstance, host: HostFacts) => DomainPart;

export const onOff = (on: boolean): OnOff => (on ? 'on' : 'off');
export const yesNo = (yes: boolean): YesNo => (yes ? 'yes' : 'no');

/** A switch that is on unless it says otherwise; an absent switch stays absent. */
export const state = (feature: { enabled?: boolean } | undefined): State | undefined =>
  feature && { '@state': onOff(feature.enabled ?? true) };

/** A device that is there unless it is refused. */
export const attached = (autoattach: boolean | undefined): boolean => autoattach ?? true;

/** libvirt keeps names that start with ua- for its users: events and hot-plug find devices by them. */
export const alias = (name: string): Alias => ({ '@name': `ua-${name}` });

/** Empty strings of the API mean "not set". */
export const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
