import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

/** Builds the package: its two modules with what they bundle, their types, and the style sheet. */

const folder = import.meta.dirname;
const dist = join(folder, 'dist');
rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: [join(folder, 'index.ts'), join(folder, 'client.ts')],
  outdir: dist,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2023',
  jsx: 'automatic',
  external: ['react', 'react/jsx-runtime', 'ai', '@ai-sdk/react'],
  alias: { 'decode-named-character-reference': join(folder, '../widget/answer/character-references.ts') },
  legalComments: 'inline',
  logLevel: 'warning',
});
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
execFileSync(process.execPath, [join(typescript, 'bin/tsc'), '--project', folder], { stdio: 'inherit' });
for (const file of globSync(join(dist, '**/*.d.ts'))) {
  // the names under which every resolver finds the declarations
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/('\.[^']*)\.tsx?'/g, "$1.js'"));
}
cpSync(join(folder, '../widget/chat.css'), join(dist, 'styles.css'));
