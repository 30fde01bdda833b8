import { createRunTool } from '../../../activities/tools/run-tool.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { openSandboxHost } from '../../../activities/sandbox/sandbox-host.ts';
import type { ActivityDeps } from '../../../activities/index.ts';
import type { TestDatabase } from '../database/database.ts';
import { createTestRepository } from '../git-repository.ts';
import { testLimits } from './sandbox.ts';
import { startScriptedModelServer } from '../servers/scripted-model-server.ts';
import { startTestWorker } from '../stack/worker.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { testEngine } from './engine.ts';

/** The real worker with the sandbox of this machine, a repository and a scripted model. */
export async function startCommandScene(
  database: TestDatabase,
  change: (deps: ActivityDeps) => Partial<ActivityDeps> = () => ({}),
) {
  await using resources = new AsyncDisposableStack();
  const directory = temporaryDirectory();
  const opened = resources.use(
    await openSandboxHost({ directory, engine: testEngine, limits: testLimits, network: null, authorities: null }),
  );
  const commands = { ...opened, maxSeconds: 60, directory };
  const toolset = createToolset({ run: createRunTool(commands) });
  const repository = resources.use(await createTestRepository({ 'README.md': '# Lamp\n', '.gitignore': 'build/\n' }));
  const model = resources.use(await startScriptedModelServer());
  const worker = resources.use(
    await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      change: (deps) => ({ commands, toolset, ...change({ ...deps, commands, toolset }) }),
    }),
  );
  const running = resources.move();
  return { repository, model, worker, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
