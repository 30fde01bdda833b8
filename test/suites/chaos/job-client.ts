import { setTimeout as delay } from 'node:timers/promises';
import type { JobPlan } from './plans/job-plans.ts';

/** One request to the API; status null: no answer. */
export interface Exchange {
  what: 'create' | 'get' | 'message' | 'approve';
  job: number;
  fromMs: number;
  toMs: number;
  status: number | null;
}

interface Answer {
  status: number | null;
  /** Null if the response is an error, or there is none. */
  job: SeenJob | null;
}

export interface SeenJob {
  id: string;
  status: string;
  source: { ref: string | null };
  prLink: string | null;
  details: { phase: string | null; steps: number; failure: { category: string } | null };
}

export interface JobClientOptions {
  baseUrl: string;
  adminKey: string;
  /** Project of each repository. */
  projects: string[];
  /** Prefix of the idempotency keys. */
  run: string;
}

export interface JobClient {
  exchanges: Exchange[];
  /** Text that a client must never see. */
  violations: string[];
  /** The last seen state of each plan's job. */
  jobs: Map<number, SeenJob>;
  /** Creates a job; repeats the request with the same key until it is accepted. */
  create(plan: JobPlan): Promise<void>;
  /**
   * Begins a further turn of a job that has ended or waits: by an approval, which is sent twice at the same time, or by a
   * message. Repeats the request, a message with the same key, until it is accepted.
   */
  goOn(plan: JobPlan, turn: number): Promise<void>;
  /** Polls a job until it has ended or waits for a person; `isOver` gives up. */
  follow(plan: JobPlan, isOver: () => boolean): Promise<void>;
  /** Polls a job once. */
  get(plan: JobPlan): Promise<void>;
}

const answerTimeoutMs = 40_000;
const pollMs = 150;

/** Exactly `{"error": "<sentence>"}`. */
function isErrorBody(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Object.keys(body).join() !== 'error') return false;
  return 'error' in body && typeof body.error === 'string' && body.error.endsWith('.');
}

/** Retries once at once: a connection that was kept open may have just been closed. */
async function request(url: string, init: RequestInit): Promise<Response> {
  const ask = () => fetch(url, { ...init, signal: AbortSignal.timeout(answerTimeoutMs) });
  return ask().catch(ask);
}

/** A client that creates jobs and polls them, and records each response. */
export function createJobClient({ baseUrl, adminKey, projects, run }: JobClientOptions): JobClient {
  const exchanges: Exchange[] = [];
  const violations: string[] = [];
  const jobs = new Map<number, SeenJob>();

  async function ask(what: Exchange['what'], plan: JobPlan, path: string, init: RequestInit): Promise<Answer> {
    const exchange: Exchange = { what, job: plan.index, fromMs: Date.now(), toMs: 0, status: null };
    exchanges.push(exchange);
    try {
      const response = await request(`${baseUrl}/v2/agent/${projects[plan.repository]}${path}`, init);
      const body: unknown = await response.json();
      exchange.status = response.status;
      if (response.ok) return { status: response.status, job: body as SeenJob };
      if (response.status !== 503) violations.push(`${what} of job ${plan.index} answers ${response.status}`);
      if (!isErrorBody(body)) violations.push(`${what} of job ${plan.index} answers ${JSON.stringify(body)}`);
    } catch {
      // no response: whether that is justified follows from the kills of the API
    } finally {
      exchange.toMs = Date.now();
    }
    return { status: exchange.status, job: null };
  }

  function note(plan: JobPlan, seen: SeenJob): void {
    const before = jobs.get(plan.index);
    jobs.set(plan.index, seen);
    if (before !== undefined && before.id !== seen.id)
      violations.push(`job ${plan.index} is ${before.id} and ${seen.id}`);
    const hasEnded = before !== undefined && before.status !== 'active';
    if (hasEnded && (before.status !== seen.status || before.prLink !== seen.prLink))
      violations.push(`job ${plan.index} goes from ${before.status} to ${seen.status}, ${seen.prLink}`);
    if (seen.status === 'active' && seen.prLink !== null)
      violations.push(`job ${plan.index} is active and has a pull request`);
  }

  const headers = { authorization: `Bearer ${adminKey}` };

  const postOf = (body: object, idempotencyKey: string) => ({
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify(body),
  });

  async function get(plan: JobPlan): Promise<void> {
    const { id } = jobs.get(plan.index)!;
    const { job } = await ask('get', plan, `/job/${id}`, { headers });
    if (job !== null) note(plan, job);
  }

  return {
    exchanges,
    violations,
    jobs,
    async create(plan) {
      const { waits = [], ref, prompt } = plan;
      const body = {
        prompt,
        model: 'compatible/planned',
        ...(ref && { source: { ref } }),
        ...(waits.includes('approval') && { plan: 'review' }),
        ...(waits.includes('answer') && { ask: true }),
      };
      const init = postOf(body, `${run}-${plan.index}`);
      for (;;) {
        const { status, job } = await ask('create', plan, '/job', init);
        if (job !== null) return note(plan, job);
        if (status !== null && status !== 503) return; // refused, which is a violation already
        await delay(pollMs);
      }
    },
    async goOn(plan, turn) {
      const { id } = jobs.get(plan.index)!;
      const key = `${run}-${plan.index}-${turn}`;
      const isApproval = plan.waits?.[turn - 2] === 'approval';
      const message = () =>
        ask('message', plan, `/job/${id}/message`, postOf({ prompt: `Go on with turn ${turn}.` }, key));
      const approve = () => ask('approve', plan, `/job/${id}/approve`, postOf({ turn: turn - 1 }, key));
      for (;;) {
        const answers = isApproval ? await Promise.all([approve(), approve()]) : [await message()];
        const { status, job } = answers.find((answer) => answer.job !== null) ?? answers[0]!;
        if (job !== null) {
          jobs.delete(plan.index); // the last turn's state says nothing about this one
          return note(plan, job);
        }
        if (status !== null && status !== 503) return;
        await delay(pollMs);
      }
    },
    async follow(plan, isOver) {
      const isWorking = () => {
        const seen = jobs.get(plan.index);
        return seen?.status === 'active' && seen.details.phase !== 'waiting';
      };
      while (isWorking() && !isOver()) {
        await delay(pollMs);
        await get(plan);
      }
    },
    get,
  };
}
