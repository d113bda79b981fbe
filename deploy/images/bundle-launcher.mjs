// Makes one script of the launcher and its packages, so that a Pod starts without looking for hundreds of files, and in less memory; what is loaded later
// stays apart: node bundle-launcher.mjs ENTRY DIRECTORY
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const [entry, directory] = process.argv.slice(2);
await build({
  entryPoints: [entry],
  outdir: directory,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // For packages in CommonJS.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  legalComments: 'external',
});
// Found from the script's own place (api/launcher/proto.ts).
copyFileSync('api/launcher/launcher.proto', join(directory, 'launcher.proto'));
