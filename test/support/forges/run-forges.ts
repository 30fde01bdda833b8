import { spawn } from 'node:child_process';
import { buildGitea } from './gitea-build.ts';

/** `npm run test:forges`: the contract of forges, against a real Gitea too, which is built first where there is none. */
await buildGitea({ env: process.env, log: (line) => console.log(line) });
const files = ['test/integration/clients/forges.test.ts', 'test/integration/clients/gitea.test.ts'];
const child = spawn('vitest', ['run', '--project', 'integration', ...files], { stdio: 'inherit' });
child.on('close', (code) => (process.exitCode = code ?? 1));
