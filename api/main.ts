import { flushCompileCache } from 'node:module';
import { keepCompiledCode } from '../lib/compile-cache.ts';

// An API that replaces a killed one finds the code compiled. The cache is written now rather than at exit, which a
// killed process does not reach.
keepCompiledCode(process.env);
const { readTool } = await import('../lib/inputs/tool-arguments.ts');
readTool({
  command: 'npm run start:api --',
  about: 'Starts an API process. Its settings are environment variables: docs/operations/settings.md describes them.',
});
const { runMain } = await import('./run-main.ts');
flushCompileCache();
await runMain();
