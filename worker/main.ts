import { keepCompiledCode } from '../lib/compile-cache.ts';

keepCompiledCode(process.env);
const { readTool } = await import('../lib/inputs/tool-arguments.ts');
readTool({
  command: 'npm run start:worker --',
  about: 'Starts a worker. Its settings are environment variables: docs/operations/settings.md describes them.',
});
const { runMain } = await import('./run-main.ts');
await runMain();
