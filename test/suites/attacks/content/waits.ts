import { createIdleEndings } from '../../../../db/for-worker/idle-endings.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import type { JobRow, Question } from '../../../../db/jobs/jobs.ts';
import { buildJob } from '../../../support/database/build.ts';
import type { Attack } from '../stage/attack.ts';
import { endedKey, serviceStage, type ServiceStage } from '../stage/service-stage.ts';

interface State {
  turn: number;
  status: string;
  phase: string | null;
  approvedTurn: number | null;
  question: Question | null;
}

/** Makes a request for a job of the first organization; returns its status. */
type Act = (action: string, body?: unknown, key?: string | null) => Promise<number>;

interface Decision {
  class: number;
  name: string;
  /** What the job waits for. */
  question?: Question;
  columns?: Partial<JobRow>;
  /** Happens before the attack. */
  before?(stage: ServiceStage, id: string): Promise<unknown>;
  attack(act: Act, stage: ServiceStage): Promise<number[]>;
  reached(state: State, statuses: number[]): boolean;
  contained: string;
}

async function buildWaiting(
  { database, mine }: ServiceStage,
  { question = null, columns }: { question?: Question | null; columns?: Partial<JobRow> | undefined },
) {
  const { id } = await buildJob(database.pool, mine.project, { planReview: true, ...columns });
  const wait = { jobId: id, turn: 1, title: 'Plan', plan: question === null ? 'Do it.' : null, question, days: 7 };
  if (!(await createWorkerJobStore(database.pool).wait(wait))) throw new Error('The job does not wait.');
  return id;
}

async function stateOf({ database }: ServiceStage, id: string): Promise<State> {
  const { rows } = await database.pool.query<State>(
    'select turn, status, phase, approved_turn as "approvedTurn", question from jobs where id = $1',
    [id],
  );
  return rows[0]!;
}

/** A service that starts a turn for any caller. */
function carelessAct({ database }: ServiceStage, id: string): Act {
  return async (action) => {
    await database.pool.query(
      action === 'reject'
        ? `update jobs set status = 'failed', phase = null, failure_category = 'plan_rejected', ended_at = now() where id = $1`
        : `update jobs set turn = turn + 1, approved_turn = turn + 1, status = 'active', phase = 'queued', ended_at = null,
                  failure_category = null, archived_at = null
           where id = $1`,
      [id],
    );
    return 200;
  };
}

const isApproved = ({ approvedTurn }: State) => approvedTurn !== null;
const once = (act: Act) => act('approve', {}).then((status) => [status]);
const asking: Question = { text: 'Which license?', choices: ['MIT', 'ISC'] };
const rightful = 'one transaction that holds the row of the job decides';

const decisions: Decision[] = [
  {
    class: 44,
    name: 'three approvals at the same time, for three turns',
    attack: (act) => Promise.all([1, 2, 3].map(() => act('approve', { turn: 1 }))),
    reached: ({ turn }) => turn !== 2,
    contained: rightful,
  },
  {
    class: 44,
    name: 'a second approval with another comment',
    attack: async (act) => [await act('approve', {}), await act('approve', { comment: 'And delete the tests.' })],
    reached: ({ turn }, statuses) => turn !== 2 || statuses[1] === 200,
    contained: 'a decision is not replaced',
  },
  {
    class: 44,
    name: 'an approval and a rejection at the same time',
    attack: (act) => Promise.all([act('approve', {}), act('reject', {})]),
    reached: (_state, statuses) => statuses.filter((status) => status === 200).length !== 1,
    contained: rightful,
  },
  {
    class: 44,
    name: 'an approval and a message at the same time, for two turns',
    attack: (act) => Promise.all([act('approve', {}), act('message', { prompt: 'Plan again.' })]),
    reached: ({ turn }) => turn !== 2,
    contained: rightful,
  },
  {
    class: 44,
    name: 'an approval after a cancel',
    before: ({ api, mine }, id) =>
      api.ask(`/v2/agent/${mine.project.id}/job/${id}/cancel`, { method: 'POST', key: mine.admin }),
    attack: once,
    reached: (state) => isApproved(state) || state.status === 'active',
    contained: 'only a job that waits is approved',
  },
  {
    class: 44,
    name: 'an approval after the deadline, before anyone has noticed it',
    before: ({ database }, id) =>
      database.pool.query(`update jobs set wait_until = now() - interval '1 second' where id = $1`, [id]),
    attack: once,
    reached: isApproved,
    contained: 'the deadline is compared in the transaction of the decision',
  },
  {
    class: 44,
    name: 'an approval after the deadline',
    async before({ database }, id) {
      await database.pool.query(`update jobs set wait_until = now() - interval '1 second' where id = $1`, [id]);
      await createIdleEndings(database.pool).endWaits({ limit: 1_000 });
    },
    attack: once,
    reached: isApproved,
    contained: 'only a job that waits is approved',
  },
  {
    class: 44,
    name: 'the approval of a plan that was replaced meanwhile',
    async before({ api, database, mine }, id) {
      const path = `/v2/agent/${mine.project.id}/job/${id}/message`;
      await api.ask(path, { method: 'POST', key: mine.admin, json: { prompt: 'Plan again.' } });
      const next = { jobId: id, turn: 2, title: 'Plan', plan: 'Delete all.', question: null, days: 7 };
      await createWorkerJobStore(database.pool).wait(next);
    },
    attack: (act) => act('approve', { turn: 1 }).then((status) => [status]),
    reached: isApproved,
    contained: 'the turn of the plan that was read is compared',
  },
  {
    class: 44,
    name: 'the approval of a plan while the agent asks',
    question: asking,
    attack: once,
    reached: isApproved,
    contained: 'a question is answered, not approved',
  },
  {
    class: 44,
    name: 'the approval of a job without a plan',
    question: asking,
    columns: { planReview: false },
    attack: once,
    reached: isApproved,
    contained: 'only a job whose plan is reviewed is approved',
  },
  {
    class: 44,
    name: 'a rejection after the approval',
    before: ({ api, mine }, id) =>
      api.ask(`/v2/agent/${mine.project.id}/job/${id}/approve`, { method: 'POST', key: mine.admin, json: {} }),
    attack: async (act) => [await act('reject', {})],
    reached: ({ status }) => status === 'failed',
    contained: 'a decision is not replaced',
  },
  {
    class: 44,
    name: 'approvals of the wrong shape',
    attack: (act) =>
      Promise.all(
        [
          { turn: '1' },
          { turn: [1] },
          { turn: -1 },
          { approve: true },
          { comment: { a: 1 } },
          [],
          { comment: 'x'.repeat(200_000) },
        ].map((body) => act('approve', body)),
      ),
    reached: (state, statuses) => isApproved(state) || statuses.some((status) => status < 400 || status >= 500),
    contained: 'bodies are parsed by their schema',
  },
  ...(
    [
      ['the key of another organization', async ({ theirs }) => theirs.admin],
      ['the public assistant key', async ({ mine }) => mine.assistant],
      ['an expired key', endedKey],
      ['no key', async () => null],
    ] as [string, (stage: ServiceStage) => Promise<string | null>][]
  ).map(([what, keyOf]): Decision => ({
    class: 44,
    name: `an approval with ${what}`,
    attack: async (act, stage) => [await act('approve', {}, await keyOf(stage))],
    reached: isApproved,
    contained: 'the owner is part of every query',
  })),
  {
    class: 45,
    name: 'two answers at the same time, for two turns',
    question: asking,
    attack: (act) => Promise.all([act('message', { prompt: 'MIT' }), act('message', { prompt: 'ISC' })]),
    reached: ({ turn }) => turn !== 2,
    contained: 'the first answer begins the turn, the second is a message to it',
  },
  {
    class: 45,
    name: 'an answer of another organization',
    question: asking,
    attack: async (act, { theirs }) => [await act('message', { prompt: 'MIT' }, theirs.admin)],
    reached: ({ phase }) => phase !== 'waiting',
    contained: 'the owner is part of every query',
  },
  {
    class: 45,
    name: 'an answer after the job was archived',
    question: asking,
    async before({ api, mine }, id) {
      for (const action of ['cancel', 'archive'])
        await api.ask(`/v2/agent/${mine.project.id}/job/${id}/${action}`, { method: 'POST', key: mine.admin });
    },
    attack: async (act) => [await act('message', { prompt: 'MIT' })],
    reached: ({ status }) => status !== 'archived',
    contained: 'an archived job takes no messages',
  },
  {
    class: 45,
    name: 'a question that is still open after its answer',
    question: asking,
    attack: async (act) => [await act('message', { prompt: 'Neither: the BSD license.' })],
    reached: ({ question, turn }) => question !== null || turn !== 2,
    contained: 'an answer closes the question, whatever it says',
  },
];

/** Decisions about plans, and answers to questions, that people send. */
export const waitAttacks: Attack[] = decisions.map(
  ({ before, attack, reached, contained, name, class: number, ...wait }): Attack => {
    const play = async (actOf: (stage: ServiceStage, id: string) => Act) => {
      const stage = await serviceStage();
      const id = await buildWaiting(stage, wait);
      await before?.(stage, id);
      const statuses = await attack(actOf(stage, id), stage);
      return reached(await stateOf(stage, id), statuses);
    };
    return {
      class: number,
      name,
      unprotected: () => play(carelessAct),
      product: () =>
        play((stage, id) => async (action, json = {}, key = stage.mine.admin) => {
          const path = `/v2/agent/${stage.mine.project.id}/job/${id}/${action}`;
          return (await stage.api.ask(path, { method: 'POST', key, json })).status;
        }),
      contained,
    };
  },
);
