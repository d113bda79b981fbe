// Makes one script of the launcher and its packages, so that a Pod starts without looking for hundreds of files, and in less memory; what is loaded later
// stays apart: node bundle-launcher.mjs ENTRY … DIRECTORY
import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

// zod's messages in all languages are a fourth of what would have to be read at each start, and nobody reads them.
const inEnglish = {
  name: 'in-english',
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: dirname(path),
    })),
};

const entries = process.argv.slice(2, -1);
const directory = process.argv.at(-1);
await build({
  entryPoints: entries,
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
  plugins: [inEnglish],
  legalComments: 'external',
});
// Found from the script's own place (api/launcher/proto.ts).
copyFileSync('api/launcher/launcher.proto', join(directory, 'launcher.proto'));
