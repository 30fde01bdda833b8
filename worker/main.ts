import { flushCompileCache } from 'node:module';
import { keepCompiledCode } from './compile-cache.ts';

// A worker that takes the place of a killed one finds its code compiled. The cache is written here and not at the end of the
// process, which a killed one does not come to.
keepCompiledCode(process.env);
const { runMain } = await import('./run-main.ts');
flushCompileCache();
await runMain();
