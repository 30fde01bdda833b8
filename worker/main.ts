import { flushCompileCache } from 'node:module';
import { keepCompiledCode } from '../lib/compile-cache.ts';

// A worker that replaces a killed one finds the code compiled. The cache is written now rather than at exit, which a
// killed process does not reach.
keepCompiledCode(process.env);
const { runMain } = await import('./run-main.ts');
flushCompileCache();
await runMain();
