import type { KernelBoot } from '../kubevirt/types.ts';
import type { Cause, Rule } from './cause.ts';
import { invalid, required, when } from './cause.ts';
import { isFilePath } from './volumes.ts';

const FIELD = 'spec.domain.firmware.kernelBoot';

/** Kernel and initrd come from an image; one way of booting. */
export const bootRules: Rule = ({ spec }) => {
  const { kernelBoot, bootloader } = spec.domain.firmware ?? {};
  return [
    ...when(bootloader?.bios !== undefined && bootloader.efi !== undefined, () =>
      invalid('spec.domain.firmware.bootloader', 'it is bios or efi: keep one'),
    ),
    ...(kernelBoot === undefined ? [] : kernelRules(kernelBoot)),
  ];
};

const kernelRules = ({ kernelArgs, container }: KernelBoot): Cause[] => {
  if (container === undefined)
    return when(Boolean(kernelArgs), () =>
      invalid(`${FIELD}.kernelArgs`, 'arguments need a kernel: name its image in kernelBoot.container'),
    );
  const { image, kernelPath, initrdPath } = container;
  const path = (name: string, value: string | undefined): Cause[] =>
    when(Boolean(value) && !isFilePath(value ?? ''), () =>
      invalid(`${FIELD}.container.${name}`, `"${value}" must be the absolute path of a file in the image`),
    );
  return [
    ...when(!image, () => required(`${FIELD}.container.image`, 'name the image that holds kernel and initrd')),
    ...when(!kernelPath && !initrdPath, () => required(`${FIELD}.container`, 'name kernelPath, initrdPath or both')),
    ...path('kernelPath', kernelPath),
    ...path('initrdPath', initrdPath),
  ];
};
