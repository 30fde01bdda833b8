import type { Pool } from 'pg';
import type { JobCheck } from '../jobs/agent-job.ts';
import type { Question } from '../jobs/jobs.ts';
import { FailureType, failureOf } from '../../workflows/contract/failures.ts';
import type { JobPhase, WorkedTurn } from '../../workflows/contract/job.ts';
import { changeQuestion, noStepAfter, ofActiveTurn } from '../jobs/job-statements.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import type { PullRequestState } from './job-branches.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

/** Branch, commit and pull request that a turn has published. */
export interface PublishedJob extends WorkedTurn {
  branch: string;
  headCommit: string;
  headTree: string;
  prId: string;
  prLink: string;
  prState: PullRequestState;
  prDraft: boolean;
  /** Title and Markdown body that Docket wrote into the pull request. */
  prText: { title: string; body: string };
  check: JobCheck | null;
}

/** A turn that ends with a plan, or with a question. */
export interface TurnWait extends WorkedTurn {
  /** Title for a job that has none. */
  title: string | null;
  plan: string | null;
  question: Question | null;
  /** Days until the deadline. */
  days: number;
}

interface TurnEnding {
  jobId: string;
  turn: number;
  step?: number;
  /** Whether unread messages are left for the next turn; those of a failed turn always are. */
  leavesMessages?: boolean;
  status: 'completed' | 'failed';
  failureCategory: string | null;
  message?: string;
}

export interface TurnSummary extends WorkedTurn {
  title: string | null;
  message: string;
  /** A sentence that says what is incomplete; null if nothing is. */
  incomplete: string | null;
}

/** Condition: only the newest turn of an active job may write until it is over; `$1` and `$2` are the job and the turn. */
const whileOurs = `where id = $1 and turn = $2 and status = 'active' and jobs.phase is distinct from 'waiting'`;

/** A phase that another attempt writes again adds no event. */
const setPhaseStatement = `
  with previous as materialized (
    select phase from jobs ${whileOurs} for update
  ), changed as (
    update jobs set phase = $3, updated_at = now() from previous ${whileOurs}
    returning id, turn, previous.phase as previous
  )
  select case when previous is distinct from $3 then append_job_events(id, turn, null, $4) end from changed`;

const setBaseStatement = `
  with based as (
    update job_turns set base_commit = $4 where job_id = $1 and turn = $2
  )
  update jobs set base_branch = $3, base_commit = $4, updated_at = now() ${whileOurs}`;

const mayFinish = `${whileOurs} and ($3 = 'failed' or ${noStepAfter('$7')})`;

/** Ends the turn of the job that \`ended\` returns. */
const endTurn = `
  ended_turn as (
    update job_turns set status = $3, ended_at = now() from ended
    where job_turns.job_id = ended.id and job_turns.turn = ended.turn
  ), unstarted as (
    delete from job_outbox using ended where job_outbox.job_id = ended.id and job_outbox.turn = ended.turn
  )`;
const appendEnd = `
  append_job_events(
    ended.id, ended.turn, null, ends => true,
    events => jsonb_build_array(jsonb_build_object(
      'type', case when $3 = 'failed' then 'failure' else 'finish' end,
      'data', $6::jsonb || case
        when $3 = 'failed' then jsonb_build_object('message', left(ended.message, 2000))
        else jsonb_build_object('title', title, 'message', left(ended.message, 2000), 'prLink', pr_link)
      end
    ))
  )`;

/** A person who cancels a job wants nothing more of it, so messages stay unread. */
const finishStatement = `
  with ended as (
    update jobs
    set status = $3, phase = null, failure_category = $4, message = coalesce($5, message), waiting_messages = 0,
        ended_at = now(), updated_at = now()
    ${mayFinish} and (waiting_messages = 0 or $4 = '${FailureType.Cancelled}')
    returning id, turn, title, message, pr_link
  ), ${endTurn}
  select ${appendEnd} from ended`;

/** Ends a turn whose messages are left for the next one, which the first of them begins, as if it had arrived later. */
const succeedStatement = `
  with ended as materialized (
    select id, turn, title, coalesce($5, message) as message, pr_link from jobs
    ${mayFinish} and waiting_messages > 0 and $4 is distinct from '${FailureType.Cancelled}' for update
  ), ${endTurn}, unread as (
    delete from job_messages as sent using ended where sent.job_id = ended.id and sent.turn = ended.turn and step is null
    returning sent.job_id, sent.turn + 1 as turn, position, prompt, images, created_at
  ), begun as (
    insert into job_turns (job_id, turn, prompt, images, created_at)
    select job_id, turn, prompt, images, created_at from unread order by position limit 1
  ), further as (
    insert into job_messages (job_id, turn, position, prompt, images, created_at)
    select job_id, turn, position, prompt, images, created_at from unread order by position offset 1
    returning position
  ), started as (
    insert into job_outbox (job_id, turn) select id, turn + 1 from ended
  ), succeeded as (
    update jobs
    set turn = ended.turn + 1, phase = 'queued', message = null, updated_at = now(),
        waiting_messages = (select count(*) from further)
    from ended where jobs.id = ended.id
  )
  select ${appendEnd}, append_job_events(
    ended.id, ended.turn + 1, null, '[{"type": "phase", "data": {"phase": "queued"}}]'
  ) from ended`;

/** Makes messages of a call without an answer unread again. An answer that still arrives has read more and is not stored. */
const returnMessages = `
  with unanswered as (
    update job_steps set messages = 0
    where job_id = $1 and turn = $2 and response is null and messages > 0 and ${ofActiveTurn}
    returning step
  ), returned as (
    update job_messages set step = null from unanswered
    where job_id = $1 and turn = $2 and job_messages.step = unanswered.step
    returning position
  )
  update jobs set waiting_messages = waiting_messages + returned.count
  from (select count(*) from returned) as returned ${whileOurs} and returned.count > 0`;

const maxEventTextLength = 2_000;

const waitStatement = `
  with waiting as (
    update jobs
    set phase = 'waiting', title = coalesce(title, $3), plan = coalesce($4, plan), question = $5, wait_since = now(),
        wait_until = now() + $6::float8 * interval '1 day', updated_at = now()
    ${whileOurs} and waiting_messages = 0 and ${noStepAfter('$7')}
    returning id, turn, question, plan, wait_until
  ), ended_turn as (
    update job_turns set status = 'completed', ended_at = now() from waiting
    where job_turns.job_id = waiting.id and job_turns.turn = waiting.turn
  )
  select append_job_events(id, turn, null, jsonb_build_array(
    jsonb_build_object('type', 'phase', 'data', jsonb_build_object('phase', 'waiting')),
    jsonb_build_object('type', 'waiting', 'data', jsonb_build_object(
      'for', case when question is null then 'approval' else 'answer' end,
      'plan', case when question is null then left(plan, ${maxEventTextLength}) end,
      'question', question ->> 'text', 'choices', coalesce(question -> 'choices', '[]'), 'until', wait_until
    ))
  )) from waiting`;

/**
 * Creates the writes of a turn; each is one statement, and so one transaction. They write only while the job is active
 * and the turn is its newest, and return false otherwise.
 */
export function createJobWrites(pool: Pool) {
  async function write(statement: string, [jobId, ...values]: [string, ...unknown[]]): Promise<boolean> {
    const { rowCount } = await pool.query(statement, [jobId, ...values]);
    if (rowCount === 1) wakeWatchers(pool, jobId);
    return rowCount === 1;
  }

  function setPhase(ref: { jobId: string; turn: number; phase: JobPhase }): Promise<boolean> {
    const event = JSON.stringify([{ type: 'phase', data: { phase: ref.phase } }]);
    return write(setPhaseStatement, [ref.jobId, ref.turn, ref.phase, event]);
  }

  function setBase(ref: { jobId: string; turn: number; baseBranch: string; baseCommit: string }): Promise<boolean> {
    return write(setBaseStatement, [ref.jobId, ref.turn, ref.baseBranch, ref.baseCommit]);
  }

  function setSummary({ jobId, turn, step, title, message, incomplete }: TurnSummary): Promise<boolean> {
    return write(
      `update jobs set title = $3, message = $4, incomplete = $5, updated_at = now()
       ${whileOurs} and ${noStepAfter('$6')}`,
      [
        jobId,
        turn,
        title === null ? null : toStoredText(title),
        toStoredText(message),
        incomplete === null ? null : toStoredText(incomplete),
        step,
      ],
    );
  }

  function setPublished(ref: PublishedJob): Promise<boolean> {
    return write(
      `with published as (
         update jobs
         set branch = $3, head_commit = $4, head_tree = $5, pr_id = $6, pr_link = $7, pr_state = $8, pr_draft = $9,
             check_result = $10, merged_from = null, updated_at = now()
         ${whileOurs} and ${noStepAfter('$11')}
         returning id, repository, branch, base_branch, pr_id, pr_state, pr_draft
       ), hosted as (
         insert into pull_requests (id, repository, number, head, base, title, body, draft, state, job_id)
         select pull_request_of(id, pr_id), repository, pr_id::integer, branch, coalesce(base_branch, ''), $12, $13, pr_draft,
                pr_state, id
         from published where pr_id ~ '^[0-9]{1,9}$'
         on conflict (id) do update
         set head = excluded.head, title = excluded.title, body = excluded.body, draft = excluded.draft, state = excluded.state,
             updated_at = now()
       )
       select from published`,
      [
        ref.jobId,
        ref.turn,
        ref.branch,
        ref.headCommit,
        ref.headTree,
        ref.prId,
        ref.prLink,
        ref.prState,
        ref.prDraft,
        ref.check === null ? null : toStoredJson(ref.check),
        ref.step,
        toStoredText(ref.prText.title),
        toStoredText(ref.prText.body),
      ],
    );
  }

  /**
   * Ends a turn: completed and failed never replace each other, and a turn does not complete while a message waits, or
   * once a step after `step` has begun. `message` replaces the job's message if given. Messages that are left begin the next
   * turn, unless a person cancelled this one: the job stays active.
   */
  async function finish(ref: TurnEnding): Promise<boolean> {
    const { jobId, turn, status, failureCategory } = ref;
    const leavesMessages = ref.leavesMessages ?? status === 'failed';
    const message = ref.message === undefined ? null : toStoredText(ref.message);
    const failure = JSON.stringify(failureCategory === null ? {} : failureOf(failureCategory));
    const values: [string, ...unknown[]] = [jobId, turn, status, failureCategory, message, failure, ref.step];
    if (status === 'failed') await pool.query(returnMessages, [jobId, turn]);
    return (await write(finishStatement, values)) || (leavesMessages && (await write(succeedStatement, values)));
  }

  /**
   * Ends a turn and lets its job wait for a person. False like `finish`: while a message waits, or once a step after
   * `step` has begun.
   */
  function wait({ jobId, turn, step, title, plan, question, days }: TurnWait): Promise<boolean> {
    const stored = [title, plan].map((text) => (text === null ? null : toStoredText(text)));
    return write(waitStatement, [
      jobId,
      turn,
      ...stored,
      question === null ? null : toStoredJson(question),
      days,
      step,
    ]);
  }

  /** Replaces the result of a question that was never put to anyone, in a turn's last step, with an error. */
  async function refuseQuestion({ jobId, turn, step, reason }: WorkedTurn & { reason: string }): Promise<void> {
    await pool.query(changeQuestion, [jobId, turn, step, toStoredJson({ output: reason, isError: true })]);
  }

  return { setPhase, setBase, setSummary, setPublished, finish, wait, refuseQuestion };
}
