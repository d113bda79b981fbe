import type { Concern } from '../concern.ts';

/** An emulated TPM 2.0. One with persistent state has the newer interface, as in KubeVirt. */
export const tpm: Concern = (vmi) => {
  const spec = vmi.spec.domain.devices.tpm;
  if (!spec || spec.enabled === false) return {};
  const backend = { '@type': 'emulator', '@version': '2.0' } as const;
  return {
    devices: {
      tpm: [
        spec.persistent === true
          ? { '@model': 'tpm-crb', backend: { ...backend, '@persistent_state': 'yes' } }
          : { '@model': 'tpm-tis', backend },
      ],
    },
  };
};
