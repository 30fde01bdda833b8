import { Worker, type Logger } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';

/**
 * Replays without a limit for each call into workflow code: a replayer's is 49 days, and for each call it has a thread begin and end,
 * which was two thirds of the time.
 */
export class ReplayWorker extends Worker {
  protected static override createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const unlimited = { ...options };
    Reflect.deleteProperty(unlimited, 'isolateExecutionTimeoutMs');
    return super.createWorkflowCreator(bundle, unlimited, logger);
  }
}
