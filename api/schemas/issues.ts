import type { z } from 'zod';

/** Path of a schema issue as Kubernetes writes field paths: `spec.domain.devices.disks[0].name`. */
export const fieldPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );

/** A field of a wrong type, and what is wrong. */
export interface FieldIssue {
  field: string;
  message: string;
}

export const fieldIssues = (error: z.ZodError): FieldIssue[] =>
  error.issues.map(({ path, message }) => ({ field: fieldPath(path), message }));

/** All issues in one line: `spec.running: Invalid input: expected boolean, received string; …`. */
export const issueText = (error: z.ZodError): string =>
  fieldIssues(error)
    .map(({ field, message }) => `${field || 'object'}: ${message}`)
    .join('; ');
