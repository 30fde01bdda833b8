import { Worker, type Logger } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/**
 * Replays without a limit for each call into workflow code: a replayer's is 49 days, and for each call it has a thread begin and end,
 * which was two thirds of the time. And without the stack of each promise, which nobody asks a replay for: half of what was left.
 */
export class ReplayWorker extends Worker {
  protected static override async createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const unlimited = { ...options };
    Reflect.deleteProperty(unlimited, 'isolateExecutionTimeoutMs');
    const creator = await super.createWorkflowCreator(bundle, unlimited, logger);
    globalHandlers.uninstall();
    return creator;
  }
}
