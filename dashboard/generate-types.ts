import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** `npm run dashboard:types`: the types of the API's answers, from the OpenAPI description of a stack that runs (or of the address given). */
const [, , base = 'http://127.0.0.1:8080'] = process.argv;
// it needs an older TypeScript than the one of the project, so it is no dependency
const packages = ['--package=openapi-typescript@7.13.0', '--package=typescript@5.9'];
const target = join(import.meta.dirname, 'http/schema.d.ts');
const command = ['exec', '--yes', ...packages, '--', 'openapi-typescript', `${base}/openapi.json`, '-o', target];
const { status } = spawnSync('npm', command, { stdio: 'inherit' });
process.exitCode = status ?? 1;
