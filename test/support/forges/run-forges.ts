import { spawn } from 'node:child_process';
import { readTool } from '../../../lib/inputs/tool-arguments.ts';
import { buildGitea } from './gitea-build.ts';

readTool({
  command: 'npm run test:forges --',
  about: 'Tests the contract of forges and a whole job on a real Gitea, which is built first if necessary.',
});
await buildGitea({ env: process.env, log: (line) => console.log(line) });
const contract = [
  'forges/forges',
  'forges/gitea',
  'clients/gitea-faults',
  'clients/gitea-git',
  'clients/gitea-ssh',
].map((name) => `test/integration/${name}.test.ts`);
const projects = ['--project', 'integration', '--project', 'e2e'];
const child = spawn('vitest', ['run', ...projects, ...contract, 'test/e2e/gitea.test.ts'], { stdio: 'inherit' });
child.on('close', (code) => (process.exitCode = code ?? 1));
