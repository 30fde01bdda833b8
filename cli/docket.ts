import { keepCompiledCode } from '../worker/compile-cache.ts';

/** `npm run docket -- …`; a process of its own for every command, so it lives on what the last one compiled. */

keepCompiledCode(process.env);
await import('./run-docket.ts');
