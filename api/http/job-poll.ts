import type { AppContext, AppMiddleware } from './app-context.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import type { RequestAccess } from '../access/request-access.ts';

export interface JobPollDeps<Row extends object> {
  authenticate: RequestAccess['authenticate'];
  readJob: (caller: ApiCaller, projectId: string, jobId: string) => Promise<Row>;
  presentJob: (row: Row) => unknown;
}

const jobPath = /^\/v2\/agent\/([\w-]{1,64})\/job\/([\w-]{1,64})$/;

/** Answers `GET …/job/{id}` before the router, because it gets more requests than all other endpoints together. */
export function createJobPoll<Row extends object>({
  authenticate,
  readJob,
  presentJob,
}: JobPollDeps<Row>): AppMiddleware {
  // a row that has not changed is the same object
  const texts = new WeakMap<Row, string>();

  function textOf(row: Row): string {
    const known = texts.get(row);
    if (known !== undefined) return known;
    const text = JSON.stringify(presentJob(row));
    texts.set(row, text);
    return text;
  }

  async function answer(ctx: AppContext, projectId: string, jobId: string): Promise<void> {
    ctx.state.route = '/v2/agent/:projectId/job/:id';
    const caller = await authenticate(ctx, 'admin');
    const row = await readJob(caller, projectId, jobId);
    ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
    ctx.res.setHeader('Cache-Control', 'no-store');
    // Koa's own way is for bodies of any kind, and costs more
    ctx.respond = false;
    ctx.res.statusCode = 200;
    ctx.res.end(textOf(row));
  }

  return (ctx, next) => {
    if (ctx.method !== 'GET') return next();
    const [, projectId, jobId] = jobPath.exec(ctx.path) ?? [];
    return projectId === undefined || jobId === undefined ? next() : answer(ctx, projectId, jobId);
  };
}
