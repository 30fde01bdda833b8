import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles the command line into the single file of its package, because Node does not strip types below node_modules.
 */

const file = join(import.meta.dirname, 'dist/docket.js');
await build({
  entryPoints: [join(import.meta.dirname, 'packed.ts')],
  outfile: file,
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // commander is CommonJS and loads Node's modules with require
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
  },
  legalComments: 'inline',
});
await chmod(file, 0o755);
