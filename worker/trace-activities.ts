import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { z } from 'zod';
import { traceOfTurn, type SpanContext } from '../lib/tracing/span.ts';
import type { Tracer } from '../lib/tracing/tracer.ts';

const turnSchema = z.object({ jobId: z.string(), turn: z.number() });
const outcomeSchema = z.object({ outcome: z.object({ kind: z.string(), category: z.string().optional() }) });

export interface ActivityTracingDeps {
  tracer: Tracer;
  /** When a turn of a job began; null: it is unknown. */
  turnBeganAt: (jobId: string, turn: number) => Promise<Date | null>;
}

/**
 * Makes a span of each attempt of an activity, below the turn of the job it belongs to, or below its execution. The turn's own
 * span ends with its record of the outcome.
 */
export function traceActivities({ tracer, turnBeganAt }: ActivityTracingDeps): ActivityInterceptorsFactory {
  async function endTurn(turn: { jobId: string; turn: number }, input: unknown): Promise<void> {
    const beganAt = await turnBeganAt(turn.jobId, turn.turn);
    if (beganAt === null) return;
    const trace = traceOfTurn(turn);
    const outcome = outcomeSchema.safeParse(input).data?.outcome;
    const span = tracer.start('job turn', {
      parent: trace.request,
      context: trace.turn,
      startedAtMs: beganAt.getTime(),
      attributes: {
        'docket.job.id': turn.jobId,
        'docket.job.turn': turn.turn,
        ...(outcome === undefined ? {} : { 'docket.job.outcome': outcome.kind }),
      },
    });
    span.end(outcome?.kind === 'failed' ? (outcome.category ?? 'failed') : null);
  }

  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const turn = turnSchema.safeParse(input.args[0]).data ?? null;
        const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
        const span = tracer.start(`activity ${info.activityType}`, {
          kind: 'consumer',
          parent: turn === null ? executionOf(workflowId, runId) : traceOfTurn(turn).turn,
          attributes: {
            'temporal.activity.type': info.activityType,
            'temporal.activity.attempt': info.attempt,
            'temporal.workflow.id': workflowId,
            'temporal.run.id': runId,
          },
        });
        try {
          const result = await tracer.run(span.context, () => next(input));
          span.end();
          // a figure that is missing must not fail what was done
          if (turn !== null && info.activityType === 'recordOutcome')
            await endTurn(turn, input.args[0]).catch(() => undefined);
          return result;
        } catch (error) {
          span.end(kindOf(error));
          throw error;
        }
      },
    },
  });
}

/** Activities of other executions share a trace for each run. */
function executionOf(workflowId: string, runId: string): SpanContext {
  return traceOfTurn({ jobId: `${workflowId} ${runId}`, turn: 0 }).turn;
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  return 'type' in error && typeof error.type === 'string' ? error.type : error.name;
}
