import { createTestRepository } from '../git-repository.ts';
import { startScriptedModelServer } from '../servers/scripted-model-server.ts';
import { startTestWorker, type TestWorkerOptions } from './worker.ts';

export interface JobStackOptions extends Omit<TestWorkerOptions, 'modelUrl'> {
  files?: Parameters<typeof createTestRepository>[0];
  prompt?: string;
}

/** Starts the real worker with a scripted model and a repository, and describes a job for them. */
export async function startJobStack({ files, prompt = 'Go', ...options }: JobStackOptions) {
  await using resources = new AsyncDisposableStack();
  const repository = resources.use(await createTestRepository(files));
  const model = resources.use(await startScriptedModelServer());
  const worker = resources.use(await startTestWorker({ ...options, modelUrl: model.baseUrl }));
  const running = resources.move();
  const job = { prompt, repository: repository.path };
  return { repository, model, worker, job, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
