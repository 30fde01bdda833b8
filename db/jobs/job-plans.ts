import type { Pool, PoolClient } from 'pg';
import { redact } from '../../lib/redaction/redactor.ts';
import { FailureType, failureOf } from '../../workflows/contract/failures.ts';
import type { Caller } from '../caller.ts';
import { writeAudit } from '../organizations/audit.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';
import { startTurn, problemWithTurn } from './job-messages.ts';
import { jobColumns } from './job-statements.ts';
import type { JobRow } from './jobs.ts';
import { wakeWatchers } from './wake-watchers.ts';

export interface PlanDecision {
  jobId: string;
  /** The turn that ended with the plan; without it, the newest plan. */
  turn?: number;
  /** A comment for the agent, or the reason of a rejection. */
  text: string | null;
}

/**
 * `decided`: the decision was carried out. `repeated`: it was made before, with the same text. `decided-otherwise`: an
 * earlier decision differs. `not-ready`: the agent is still planning. `asks`: it waits for an answer instead.
 * `outdated`: there is a newer plan. `unknown-turn`: the job has no such turn yet. `rejected`: its plan was rejected.
 * `ended`: the job ended without a decision, or its deadline has passed.
 */
export type DecidedPlan =
  | { kind: 'decided' | 'repeated'; job: JobRow }
  | {
      kind:
        | 'decided-otherwise'
        | 'not-ready'
        | 'asks'
        | 'outdated'
        | 'unknown-turn'
        | 'rejected'
        | 'ended'
        | 'archived'
        | 'no-plan'
        | 'unknown';
    };

/** `isLate`: its deadline has passed, although the sweep that ends such jobs has not come by. */
type WaitingJob = JobRow & { isLate: boolean | null };
type Act = (client: PoolClient, job: JobRow) => Promise<JobRow>;

export type JobPlanStore = ReturnType<typeof createJobPlanStore>;

/** Creates the store of decisions about plans. Each is one transaction that holds the job's row. */
export function createJobPlanStore(pool: Pool) {
  async function decide(
    caller: Caller,
    { jobId, turn }: PlanDecision,
    { action, earlier, act }: { action: string; earlier: Earlier; act: Act },
  ): Promise<DecidedPlan> {
    const decided = await withTransaction(pool, async (client): Promise<DecidedPlan> => {
      const { rows } = await client.query<WaitingJob>(
        `select ${jobColumns}, wait_until <= now() as "isLate" from jobs
         where id = $1 and organization_id = $2 for update`,
        [jobId, caller.organizationId],
      );
      const [job] = rows;
      if (job === undefined) return { kind: 'unknown' };
      const refusal = (await earlier(client, job)) ?? refusalOf(job, turn);
      if (refusal !== null) return refusal;
      const updated = await act(client, job);
      await writeAudit(client, caller, { action, subject: jobId, details: { turn: job.turn } });
      return { kind: 'decided', job: updated };
    });
    if (decided.kind === 'decided') wakeWatchers(pool, jobId);
    return decided;
  }

  return {
    /** Lets the agent carry out its plan, in a new turn. */
    approve(caller: Caller, decision: PlanDecision): Promise<DecidedPlan> {
      const prompt = approvalPrompt(decision.text);
      const act: Act = async (client, job) => {
        await client.query('update jobs set approved_turn = turn + 1 where id = $1', [job.id]);
        return startTurn(client, job, prompt);
      };
      return decide(caller, decision, { action: 'job.approve', earlier: earlierApproval(prompt), act });
    },

    /** Ends a job whose plan waits. */
    reject(caller: Caller, decision: PlanDecision): Promise<DecidedPlan> {
      const message = rejectionMessage(decision.text);
      const act: Act = (client, job) => endRejected(client, job, message);
      return decide(caller, decision, { action: 'job.reject', earlier: earlierRejection(message), act });
    },
  };
}

/** Returns what an earlier decision means for this one; null when there is none. */
type Earlier = (client: PoolClient, job: JobRow) => Promise<DecidedPlan | null>;

function earlierApproval(prompt: string): Earlier {
  return async (client, job) => {
    if (job.approvedTurn === null) return null;
    const { rows } = await client.query<{ prompt: string }>(
      'select prompt from job_turns where job_id = $1 and turn = $2',
      [job.id, job.approvedTurn],
    );
    return rows[0]?.prompt === toStoredText(prompt) ? { kind: 'repeated', job } : { kind: 'decided-otherwise' };
  };
}

function earlierRejection(message: string): Earlier {
  return async (_, job) => {
    if (job.failureCategory === FailureType.PlanRejected)
      return job.message === toStoredText(message) ? { kind: 'repeated', job } : { kind: 'decided-otherwise' };
    return job.approvedTurn === null ? null : { kind: 'decided-otherwise' };
  };
}

function refusalOf(job: WaitingJob, turn: number | undefined): DecidedPlan | null {
  if (job.status === 'archived') return { kind: 'archived' };
  if (!job.planReview) return { kind: 'no-plan' };
  if (job.failureCategory === FailureType.PlanRejected) return { kind: 'rejected' };
  if (job.status !== 'active') return { kind: 'ended' };
  if (job.phase !== 'waiting') return { kind: 'not-ready' };
  if (job.isLate === true) return { kind: 'ended' };
  if (job.question !== null) return { kind: 'asks' };
  const problem = problemWithTurn(job, turn);
  return problem === null ? null : { kind: problem };
}

function approvalPrompt(comment: string | null): string {
  const approved = 'The plan is approved. Carry it out now; the tools that change files are available.';
  return comment === null ? approved : `${approved}\n\n${comment}`;
}

function rejectionMessage(reason: string | null): string {
  return reason === null ? 'The plan was rejected.' : `The plan was rejected: ${reason}`;
}

async function endRejected(client: PoolClient, { id }: JobRow, message: string): Promise<JobRow> {
  const failure = failureOf(FailureType.PlanRejected);
  const event = { type: 'failure', data: { ...failure, message: redact(message, []).slice(0, 2_000) } };
  const { rows } = await client.query<JobRow>(
    `with ended as (
       update jobs
       set status = 'failed', phase = null, failure_category = $2, message = $3, ended_at = now(), updated_at = now()
       where id = $1 returning *
     )
     select ${jobColumns} from ended, append_job_events(ended.id, ended.turn, null, $4, true)`,
    [id, failure.category, toStoredText(message), toStoredJson([event])],
  );
  return onlyRow(rows);
}
