import { keepCompiledCode } from '../lib/compile-cache.ts';

keepCompiledCode(process.env);
const { runMain } = await import('./run-main.ts');
await runMain();
