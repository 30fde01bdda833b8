import type { Logger } from 'pino';
import { writeBundle } from '../../db/jobs/bundle-file.ts';
import { z } from 'zod';
import type { HistoryExport, JobHistoryStore } from '../../db/jobs/job-histories.ts';
import type { JobBundleStore } from '../../db/jobs/job-bundle.ts';
import type { JobTimelineStore } from '../../db/jobs/job-timeline.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { ApiError } from '../http/errors.ts';
import {
  historyNotFound,
  historyNotReady,
  historyWaiting,
  promptTooLarge,
  stepNotFound,
  turnNotFound,
} from '../http/errors.ts';
import type { ThreadQueue } from '../../lib/threads/thread-queue.ts';
import type { AcquireStreamSlot } from '../access/stream-slots.ts';
import type { ReadJob } from './job-reader.ts';
import { historyQuerySchema, ofJob } from './job-schemas.ts';
import { promptLimits, ofStep, stepPromptSchema } from './job-timeline-schemas.ts';
import type { Admission } from '../access/request-access.ts';
import { codeOf } from '../../lib/error-code.ts';

export const jobExportRoutes = {
  getAgentJobHistory: defineRoute({
    method: 'get',
    path: '/v2/agent/{projectId}/job/{id}/history',
    summary: "Returns Temporal's history of a turn that has ended, in the format that Temporal's tools read.",
    description:
      'It is stored within seconds after the turn ends, and kept longer than in Temporal. Until then the response is 409. A turn with a long history has several runs; Link names the previous and the next one.',
    params: ofJob,
    query: historyQuerySchema,
    responses: {
      200: { description: 'The history: {"events": […]}.', content: { 'application/json': z.looseObject({}) } },
    },
    errors: [409],
  }),
  getAgentJobBundle: defineRoute({
    method: 'get',
    path: '/v2/agent/{projectId}/job/{id}/bundle',
    summary: 'Downloads everything stored about a job in one file.',
    description:
      'Turns, messages, steps with answers and results, snapshots, effects and histories, as gzipped JSON lines. "docket job replay FILE" replays the job from it on any machine. It contains what the model read and wrote, but no keys.',
    params: ofJob,
    responses: {
      200: {
        description: 'The bundle. "docket job replay" refuses a truncated one.',
        content: { 'application/gzip': z.string().meta({ format: 'binary' }) },
      },
    },
  }),
  getAgentJobStepPrompt: defineRoute({
    method: 'get',
    path: '/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}/prompt',
    summary: 'Returns the request of a step to its model: the system prompt, the messages and the tools.',
    description:
      'It is rebuilt from what is stored, as by "docket job replay"; match says if it is exactly what was sent. The newest messages are returned: up to 1,000, and about 4 MB.',
    params: ofStep,
    responses: { 200: { description: 'The request.', content: { 'application/json': stepPromptSchema } } },
    errors: [409],
  }),
};

export interface JobExportRouteDeps {
  admit: Admission;
  readJob: ReadJob;
  histories: JobHistoryStore;
  bundles: JobBundleStore;
  timeline: JobTimelineStore;
  threadQueue: ThreadQueue;
  /** Limits streams; downloads of bundles count as streams. */
  acquireStreamSlot: AcquireStreamSlot;
  log: Logger;
}

/** Packed size, in bytes, from which a history is converted to JSON in a worker thread. */
const largeHistory = 32 * 1024;
const historyThread = new URL('../../db/jobs/history-thread.ts', import.meta.url);
/** Largest size of the records that a prompt is rebuilt from, in characters. */
const maxPromptCharacters = 32_000_000;
// its own thread, because its code is that of workers
const promptThread = new URL('../../worker/replay/exact-question-thread.ts', import.meta.url);

export function createJobExportRouter(deps: JobExportRouteDeps): AppRouter {
  const { admit, readJob, histories, bundles, timeline, threadQueue, acquireStreamSlot, log } = deps;

  return mountRoutes(admit, jobExportRoutes, {
    async getAgentJobHistory({ ctx, caller, params, query }) {
      const { organizationId } = caller;
      const job = await readJob(caller, params.projectId, params.id);
      const { turn = job.turn, run } = query;
      const found = await histories.find(caller, { jobId: job.id, turn });
      if (found === null || found.state !== 'exported') throw refusalOf(found, job, turn);
      const wanted = run ?? found.runs;
      const history = await histories.read(caller, { jobId: job.id, turn, run: wanted });
      if (history === null) throw historyNotFound(`The history of this turn has runs 1 to ${found.runs}.`);
      if (wanted > 1) ctx.append('Link', `<?turn=${turn}&run=${wanted - 1}>; rel="prev"`);
      if (wanted < found.runs) ctx.append('Link', `<?turn=${turn}&run=${wanted + 1}>; rel="next"`);
      ctx.type = 'application/json';
      ctx.body =
        history.length < largeHistory
          ? await inThisThread(history)
          : await threadQueue.run<Uint8Array, string>({ organizationId, script: historyThread, data: history });
    },

    async getAgentJobBundle({ ctx, caller, params }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      const headers = {
        'Content-Type': 'application/gzip',
        'Content-Disposition': `attachment; filename="${id}.docket.gz"`,
      };
      using _slot = acquireStreamSlot(caller.organizationId);
      ctx.respond = false; // from here on a failure truncates the file, which its reader detects
      ctx.res.writeHead(200, headers);
      if (ctx.method === 'HEAD') return void ctx.res.end();
      try {
        await writeBundle(bundles.read(caller, id), ctx.res);
      } catch (error) {
        if (!ctx.res.destroyed) ctx.res.destroy();
        const hasLeft = codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE';
        if (!hasLeft) log.warn({ err: error, jobId: id }, 'the bundle of a job was cut off');
      }
    },

    async getAgentJobStepPrompt({ ctx, caller, params: { projectId, id, turn, step } }) {
      const { id: jobId } = await readJob(caller, projectId, id);
      if ((await timeline.step(caller, { jobId, turn, step })) === null) throw stepNotFound();
      const records: string[] = [];
      let characters = 0;
      for await (const record of bundles.readPrompt(caller, jobId, { turn, step })) {
        characters += record.length;
        if (characters > maxPromptCharacters) throw promptTooLarge();
        records.push(record);
      }
      const { organizationId } = caller;
      const data = { records, turn, step, ...promptLimits };
      ctx.type = 'application/json';
      ctx.body = await threadQueue.run<typeof data, string | null>({ organizationId, script: promptThread, data });
      // the job was deleted meanwhile
      if (ctx.body === null) throw stepNotFound();
    },
  });
}

/** Imports Temporal's protocol late: the routes are described without it. */
async function inThisThread(history: Uint8Array): Promise<string> {
  const { historyAsJson } = await import('../../db/jobs/stored-history.ts');
  return historyAsJson(history);
}

function refusalOf(found: HistoryExport | null, job: JobRow, turn: number): ApiError {
  if (turn < 1 || turn > job.turn) return turnNotFound(job.turn);
  switch (found?.state) {
    case undefined:
      return historyNotReady();
    case 'waiting':
      return historyWaiting();
    case 'lost':
      return historyNotFound(
        'Temporal has no history of this turn: it never started, or its history was deleted before it could be stored.',
      );
    default:
      return historyNotFound('The history was removed some time after the job was archived.');
  }
}
