import { join } from 'node:path';
import { build } from 'vite';

/**
 * Builds `widget.js` into a folder: one classic script, because the security policy of
 * another site may forbid it to load further files. Preact replaces React, which is ten times as large.
 */
export async function buildWidget(outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'warn',
    resolve: {
      alias: [
        { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
        { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
        { find: /^react$/, replacement: 'preact/compat' },
        {
          find: /^decode-named-character-reference$/,
          replacement: join(import.meta.dirname, 'answer/character-references.ts'),
        },
      ],
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2023',
      reportCompressedSize: false,
      lib: {
        entry: join(import.meta.dirname, 'main.tsx'),
        formats: ['iife'],
        name: 'DocketWidget',
        fileName: () => 'widget.js',
      },
    },
  });
}
