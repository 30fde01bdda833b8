import { Worker, type Logger } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';

/**
 * Makes a kind of workers whose workflows all run in one thread, of the first one's bundle: a thread for each would cost another
 * 0.3 s of CPU at every start, and 60 MB. What the workers differ in lies outside of it, but for local activities, which we have none
 * of.
 */
export function createOneThreadWorkers(): typeof Worker {
  let bundle: Promise<WorkflowBundleWithSourceMapAndFilename | undefined> | null = null;
  let thread: Promise<WorkflowCreator> | null = null;
  let users = 0;

  return class OneThreadWorker extends Worker {
    protected static override async getOrCreateBundle(options: CompiledWorkerOptions, logger: Logger) {
      try {
        bundle ??= super.getOrCreateBundle(options, logger);
        return await bundle;
      } catch (error) {
        bundle = null;
        throw error;
      }
    }

    protected static override async createWorkflowCreator(
      code: WorkflowBundleWithSourceMapAndFilename,
      options: CompiledWorkerOptions,
      logger: Logger,
    ): Promise<WorkflowCreator> {
      thread ??= super.createWorkflowCreator(code, options, logger);
      const joined = thread;
      users += 1;
      try {
        const creator = await joined;
        return { createWorkflow: (options) => creator.createWorkflow(options), destroy: leave };
      } catch (error) {
        await leave();
        throw error;
      }
    }
  };

  /** The last one ends the thread; who comes then begins another. */
  async function leave(): Promise<void> {
    users -= 1;
    if (users > 0) return;
    const ended = thread;
    thread = null;
    bundle = null;
    const creator = await ended?.catch(() => null);
    await creator?.destroy();
  }
}
