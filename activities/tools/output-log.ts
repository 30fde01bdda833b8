import type { OutputBatch, WorkerEventStore } from '../../db/for-worker/job-events.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import { createStreamRedactor } from '../../lib/redaction/redact-stream.ts';
import { createLiveOutput, type LiveOutput } from './live-output.ts';

export interface OutputLogDeps {
  events: Pick<WorkerEventStore, 'appendOutput' | 'removeOutput'>;
  secrets: KnownSecrets;
}

/** Output of commands that people watch. When disposed of, it is removed: by then, results replace it. */
export type OutputLog = ReturnType<typeof openOutputLog>;

/** Opens the output of the commands of a step, or of the commands before the first step. */
export function openOutputLog({ events, secrets }: OutputLogDeps, at: Omit<OutputBatch, 'chunks'>) {
  let first: number | null = null;
  let last = 0;

  return {
    /** Starts to send the output of a command; `heading` is its first line. */
    watch({ toolCallId, heading }: { toolCallId: string | null; heading?: string }): LiveOutput {
      // output arrives outside the work that it belongs to
      const known = secrets.here();
      const call = {
        attempt: at.step?.fence ?? 0,
        toolCallId: toolCallId === null ? null : secrets.redact(toolCallId).slice(0, 200),
      };
      return createLiveOutput({
        createRedactor: () => createStreamRedactor(known),
        heading,
        async append(chunks) {
          const appended = await events.appendOutput({ ...at, chunks: chunks.map((chunk) => ({ ...call, ...chunk })) });
          if (appended === null) return false;
          first ??= appended - chunks.length + 1;
          last = appended;
          return true;
        },
      });
    },
    async [Symbol.asyncDispose]() {
      // what remains after a failure is bounded, and is removed with the job
      if (first !== null) await events.removeOutput({ jobId: at.jobId, first, last }).catch(() => undefined);
    },
  };
}
