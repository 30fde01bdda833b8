import type { Logger } from 'pino';
import { writeBundle } from '../../db/jobs/bundle-file.ts';
import type { Caller } from '../../db/caller.ts';
import type { HistoryExport, JobHistoryStore } from '../../db/jobs/job-histories.ts';
import type { JobRecordStore } from '../../db/jobs/job-records.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import { historyAsJson } from '../../db/jobs/stored-history.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import type { ApiError } from '../http/errors.ts';
import { historyNotFound, historyUnderWay, historyWaiting, turnNotFound } from '../http/errors.ts';
import type { ThreadQueue } from '../../lib/threads/thread-queue.ts';
import type { TakeStreamSlot } from '../access/stream-slots.ts';
import type { ReadJob } from './job-reader.ts';
import { historyQuerySchema } from './job-schemas.ts';
import type { Authenticate } from '../access/authentication.ts';

export interface JobRecordRouteDeps {
  authenticate: Authenticate;
  readJob: ReadJob;
  histories: JobHistoryStore;
  records: JobRecordStore;
  threadQueue: ThreadQueue;
  /** Downloads of bundles count with the streams. */
  takeStreamSlot: TakeStreamSlot;
  log: Logger;
}

/** From so many packed bytes on, the JSON of a history is made in a thread. */
const largeHistory = 32 * 1024;
const historyThread = new URL('../../db/jobs/history-thread.ts', import.meta.url);

/** What is kept of a job for whoever wants to know why it ended as it did. */
export function createJobRecordsRouter({
  authenticate,
  readJob,
  histories,
  records,
  threadQueue,
  takeStreamSlot,
  log,
}: JobRecordRouteDeps): AppRouter {
  const router = createRouter({ prefix: '/v2/agent/:projectId/job/:id' });

  async function jobOf(
    ctx: AppContext & { params: Record<string, string | undefined> },
  ): Promise<{ caller: Caller; job: JobRow }> {
    const caller = await authenticate(ctx.req, 'admin');
    return { caller, job: await readJob(caller, ctx.params['projectId'] ?? '', ctx.params['id'] ?? '') };
  }

  router.get('/history', async (ctx) => {
    const { caller, job } = await jobOf(ctx);
    const { turn = job.turn, run } = historyQuerySchema.parse({ ...ctx.query });
    const found = await histories.find(caller, { jobId: job.id, turn });
    if (found === null || found.state !== 'exported') throw refusalOf(found, job, turn);
    const wanted = run ?? found.runs;
    const history = await histories.read(caller, { jobId: job.id, turn, run: wanted });
    if (history === null) throw historyNotFound(`The history of this turn has runs 1 to ${found.runs}.`);
    ctx.set('Cache-Control', 'no-store');
    if (wanted > 1) ctx.append('Link', `<?turn=${turn}&run=${wanted - 1}>; rel="prev"`);
    if (wanted < found.runs) ctx.append('Link', `<?turn=${turn}&run=${wanted + 1}>; rel="next"`);
    ctx.type = 'application/json';
    ctx.body =
      history.length < largeHistory
        ? await historyAsJson(history)
        : await threadQueue.run<Uint8Array, string>({ script: historyThread, data: history });
  });

  router.get('/bundle', async (ctx) => {
    const { caller, job } = await jobOf(ctx);
    const { id } = job;
    const headers = {
      'Content-Type': 'application/gzip',
      'Content-Disposition': `attachment; filename="${id}.docket.gz"`,
      'Cache-Control': 'no-store',
    };
    using _slot = takeStreamSlot(caller.organizationId);
    ctx.respond = false; // from here on a failure cuts the file off, which its reader notices
    ctx.res.writeHead(200, headers);
    if (ctx.method === 'HEAD') return void ctx.res.end();
    try {
      await writeBundle(records.read(caller, id), ctx.res);
    } catch (error) {
      if (!ctx.res.destroyed) ctx.res.destroy();
      const hasLeft = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
      if (!hasLeft) log.warn({ err: error, jobId: id }, 'the bundle of a job was cut off');
    }
  });

  return router;
}

function refusalOf(found: HistoryExport | null, job: JobRow, turn: number): ApiError {
  if (turn < 1 || turn > job.turn) return turnNotFound(job.turn);
  switch (found?.state) {
    case undefined:
      return historyUnderWay();
    case 'waiting':
      return historyWaiting();
    case 'lost':
      return historyNotFound(
        'The engine has no history of this turn: it never started, or its record was deleted before it could be kept.',
      );
    default:
      return historyNotFound('The history was removed, as the job was archived long ago.');
  }
}
