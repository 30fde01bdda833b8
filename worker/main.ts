import { keepCompiledCode } from '../lib/compile-cache.ts';

keepCompiledCode(process.env);
// Half of these threads look up host names. With Node's four, two names whose servers do not answer hold up all others, and an
// organization may name any host. Read when the first thread is needed.
process.env['UV_THREADPOOL_SIZE'] ??= '128';
const { readTool } = await import('../lib/inputs/tool-arguments.ts');
readTool({
  command: 'npm run start:worker --',
  about: 'Starts a worker. Its settings are environment variables: docs/operations/settings.md describes them.',
});
const { runMain } = await import('./run-main.ts');
await runMain();
