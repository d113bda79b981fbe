import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedFiles } from './files.ts';

/** `npm run crds`: writes the CustomResourceDefinitions of deploy/crds. A unit test holds that they are what this makes. */
for (const [name, text] of generatedFiles()) writeFileSync(join(import.meta.dirname, '..', name), text);
