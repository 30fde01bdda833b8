import react from '@vitejs/plugin-react';
import { join } from 'node:path';
import { defineConfig } from 'vite';
import { subsetFonts } from './subset-fonts.ts';

const api = process.env['DOCKET_BASE_URL'] ?? 'http://127.0.0.1:8080';
const proxied = ['/v1', '/v2', '/discovery', '/openapi.json'];

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), subsetFonts()],
  build: {
    rolldownOptions: { input: ['index.html', 'widget-demo.html'].map((page) => join(import.meta.dirname, page)) },
    outDir: 'dist',
    emptyOutDir: true,
    // the content security policy allows only files of this origin
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
  },
  server: { proxy: Object.fromEntries(proxied.map((path) => [path, api])) },
});
