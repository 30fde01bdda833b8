import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createEgress } from '../../../lib/network/egress.ts';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import { createRunTool } from '../../../activities/tools/run-tool.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { startCommandScene } from '../../support/sandbox/command-scene.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { startNpmRegistry } from '../../support/servers/npm-registry.ts';
import { accountsWithSandbox, testLimits } from '../../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { testEngine } from '../../support/sandbox/engine.ts';

const { accounts } = await accountsWithSandbox();
const hasNpm = ['/usr/bin/npm', '/usr/local/bin/npm'].some((path) => existsSync(path));
const run = (command: string) => ({ name: 'run', input: { command } });

it.runIf(accounts.length > 0 && hasNpm)(
  'a setup installs from a registry, which neither the agent nor the next job reaches',
  { tags: 'slow' },
  async () => {
    await using resources = new AsyncDisposableStack();
    const database = resources.use(await createTestDatabase());
    const registry = resources.use(await startNpmRegistry('lamp', 'from the registry'));
    const directory = temporaryDirectory();
    const egress = createEgress({
      privateHosts: [registry.host],
      resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const network = { hosts: [registry.host], egress };
    const commands = {
      ...(await openSandbox({ directory, engine: testEngine, limits: testLimits, network })),
      maxSeconds: 60,
      directory,
    };
    const scene = resources.use(
      await startCommandScene(database, ({ ceilings }) => ({
        commands,
        toolset: createToolset({ run: createRunTool(commands) }),
        ceilings: { ...ceilings, hosts: network.hosts },
      })),
    );
    const { repository, model, worker } = scene;
    await repository.commit({
      'package.json': JSON.stringify({ name: 'app', private: true, dependencies: { lamp: '1.0.0' } }),
      '.npmrc': `registry=http://${registry.host}/\n`,
      '.gitignore': 'node_modules/\n',
      '.docket/environment.yml': JSON.stringify({
        setup: 'npm install --no-audit --no-fund --no-package-lock --no-update-notifier',
        check: `node -e "if (require('lamp') !== 'from the registry') process.exit(1)"`,
        hosts: { setup: [registry.host] },
      }),
    });
    let projectId: string | undefined;
    let asked = 0;
    for (const path of ['first.md', 'second.md']) {
      const write = { name: 'write', input: { path, content: 'x\n' } };
      const fetchAgain = run(`curl -sS --max-time 5 http://${registry.host}/lamp`);
      model.script(
        { toolCalls: [write, fetchAgain] },
        { toolCalls: [{ name: 'finish', input: { title: 'Add a page', summary: 'Added.' } }] },
      );
      const job = await worker.runJob({ prompt: 'Add a page', repository: repository.path, projectId });
      projectId = job.projectId;
      expect(job).toMatchObject({ status: 'completed', check: { result: 'passed' } });
      if (path === 'first.md') {
        asked = registry.asked.length;
        expect(registry.asked).toEqual(expect.arrayContaining(['/lamp', '/lamp/-/lamp-1.0.0.tgz']));
      }
    }
    expect(registry.asked).toHaveLength(asked);
    expect(registry.asked.filter((path) => path === '/lamp')).toHaveLength(1);
  },
);
