import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

// A worker that takes the place of a killed one finds its code compiled: half of its start was that. The cache is written
// here and not at the end of the process, which a killed one does not come to.
const compiled = join(import.meta.dirname, '../node_modules/.cache/docket/compiled');
enableCompileCache(compiled);
// where its threads look, and the process that starts others for it
process.env['NODE_COMPILE_CACHE'] ??= compiled;
const { runMain } = await import('./run-main.ts');
flushCompileCache();
await runMain();
