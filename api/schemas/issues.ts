import type { z } from 'zod';

/** Path of a schema issue as Kubernetes writes field paths: `spec.domain.devices.disks[0].name`. */
export const fieldPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );

/** All issues in one line: `spec.running: Invalid input: expected boolean, received string; …`. */
export const issueText = (error: z.ZodError): string =>
  error.issues.map((issue) => `${fieldPath(issue.path) || 'object'}: ${issue.message}`).join('; ');
