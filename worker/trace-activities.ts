import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { z } from 'zod';
import { endSpan, kindOf, startTurn, tracer } from '../lib/tracing/turn-trace.ts';

const turnSchema = z.object({ jobId: z.string(), turn: z.number() });
const outcomeSchema = z.object({ outcome: z.object({ kind: z.string(), category: z.string().optional() }) });

export interface ActivityTracingDeps {
  /** When a turn of a job began; null: it is unknown. */
  turnBeganAt: (jobId: string, turn: number) => Promise<Date | null>;
}

/**
 * Makes a span of each attempt of an activity, below the turn of the job it belongs to, or below its execution. The turn's own
 * span ends with its record of the outcome.
 */
export function traceActivities({ turnBeganAt }: ActivityTracingDeps): ActivityInterceptorsFactory {
  async function endTurn(turn: z.infer<typeof turnSchema>, input: unknown): Promise<void> {
    const startTime = await turnBeganAt(turn.jobId, turn.turn);
    if (startTime === null) return;
    const outcome = outcomeSchema.safeParse(input).data?.outcome;
    const span = startTurn(turn, { startTime, attributes: { 'docket.job.outcome': outcome?.kind } });
    endSpan(span, outcome?.kind === 'failed' ? (outcome.category ?? 'failed') : null);
  }

  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const turn = turnSchema.safeParse(input.args[0]).data ?? null;
        const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
        const attributes = {
          'temporal.activity.type': info.activityType,
          'temporal.activity.attempt': info.attempt,
          'temporal.workflow.id': workflowId,
          'temporal.run.id': runId,
        };
        // activities of other executions share a trace for each run
        const parent = startTurn(turn ?? { jobId: `${workflowId} ${runId}`, turn: 0 });
        const options = { kind: SpanKind.CONSUMER, attributes };
        const below = trace.setSpan(ROOT_CONTEXT, parent);
        const span = tracer().startSpan(`activity ${info.activityType}`, options, below);
        try {
          const result = await context.with(trace.setSpan(below, span), () => next(input));
          endSpan(span);
          // a span that is missing must not fail what was done
          if (turn !== null && info.activityType === 'recordOutcome')
            await endTurn(turn, input.args[0]).catch(() => undefined);
          return result;
        } catch (error) {
          endSpan(span, kindOf(error));
          throw error;
        }
      },
    },
  });
}
