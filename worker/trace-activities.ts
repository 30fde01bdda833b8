import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { z } from 'zod';
import { endSpan, kindOf, startTurn, tracer } from '../lib/tracing/turn-trace.ts';

const turnSchema = z.object({ jobId: z.string(), turn: z.number() });
const outcomeSchema = z.object({ outcome: z.object({ kind: z.string(), category: z.string().optional() }) });

export interface ActivityTracingDeps {
  /** Returns the start of a job's turn; null when it is unknown. */
  turnStartedAt: (jobId: string, turn: number) => Promise<Date | null>;
}

/**
 * Creates a span for each attempt of an activity, as a child of the job's turn or else of the execution. The span of
 * the turn ends when its outcome is recorded.
 */
export function traceActivities({ turnStartedAt }: ActivityTracingDeps): ActivityInterceptorsFactory {
  async function endTurn(turn: z.infer<typeof turnSchema>, input: unknown): Promise<void> {
    const startTime = await turnStartedAt(turn.jobId, turn.turn);
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
        // other executions have one trace per run
        const parent = startTurn(turn ?? { jobId: `${workflowId} ${runId}`, turn: 0 });
        const options = { kind: SpanKind.CONSUMER, attributes };
        const below = trace.setSpan(ROOT_CONTEXT, parent);
        const span = tracer().startSpan(`activity ${info.activityType}`, options, below);
        try {
          const result = await context.with(trace.setSpan(below, span), () => next(input));
          endSpan(span);
          // a missing span must not fail the activity
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
