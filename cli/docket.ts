import { keepCompiledCode } from '../lib/compile-cache.ts';

/**
 * Entry point of `npm run docket -- …`. Every command is a new process, so it reuses the code that earlier ones
 * compiled.
 */

keepCompiledCode(process.env);
await import('./run-docket.ts');
