import { z } from 'zod';
import { imageTypes, readImage } from '../../lib/images/image.ts';
import type { JobImageStore } from '../../db/jobs/job-images.ts';
import type { JobTimelineStore } from '../../db/jobs/job-timeline.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { imageNotFound, stepChangeNotStored, stepNotFound } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { ReadJob } from './job-reader.ts';
import { ofJob } from './job-schemas.ts';
import {
  diffQuerySchema,
  ofImage,
  ofStep,
  stepListSchema,
  stepSchema,
  stepsQuerySchema,
  turnListSchema,
  turnsQuerySchema,
} from './job-timeline-schemas.ts';
import { presentStep, presentTurn } from './present-job-timeline.ts';

const base = '/v2/agent/{projectId}/job/{id}';
const patch = { description: 'The patch.', content: { 'text/x-diff': z.string() } };

export const jobTimelineRoutes = {
  listAgentJobTurns: defineRoute({
    method: 'get',
    path: `${base}/turns`,
    summary: 'Lists the turns of a job: the prompt of each one and the messages sent while it was active.',
    params: ofJob,
    query: turnsQuerySchema,
    responses: { 200: json('A page of turns, in order.', turnListSchema) },
  }),
  listAgentJobSteps: defineRoute({
    method: 'get',
    path: `${base}/steps`,
    summary: 'Lists the steps of a job: the text of the model, its tool calls and their results.',
    params: ofJob,
    query: stepsQuerySchema,
    responses: {
      200: json(
        'A page of steps. Long texts, inputs and outputs are truncated, and a page ends early at about 2 MB.',
        stepListSchema,
      ),
    },
    errors: [409],
  }),
  getAgentJobStep: defineRoute({
    method: 'get',
    path: `${base}/steps/{turn}/{step}`,
    summary: 'Returns one step with the complete outputs of its tools.',
    params: ofStep,
    responses: { 200: json('The step.', stepSchema) },
    errors: [409],
  }),
  getAgentJobStepDiff: defineRoute({
    method: 'get',
    path: `${base}/steps/{turn}/{step}/diff`,
    summary: 'Returns the change of one step as a patch; empty when it changed nothing or has not ended.',
    description:
      'Compares the files before the step with those after it. A change of more than 1 MB is a list of its files. For binary files it says only that they differ; GET …/diff has their content. Returns 404 if the change of this step alone was not stored.',
    params: ofStep,
    responses: { 200: patch },
    errors: [409],
  }),
  getAgentJobImage: defineRoute({
    method: 'get',
    path: `${base}/images/{hash}`,
    summary: 'Returns an image that a prompt or a tool showed to the model.',
    params: ofImage,
    responses: {
      200: {
        description: 'The image.',
        content: Object.fromEntries(imageTypes.map((type) => [type, z.string().meta({ format: 'binary' })])),
      },
    },
  }),
  getAgentJobDiff: defineRoute({
    method: 'get',
    path: `${base}/diff`,
    summary: 'Returns everything a job has changed so far as a patch; empty when it changed nothing.',
    description: 'With turn and step: the change up to and including that step.',
    params: ofJob,
    query: diffQuerySchema,
    responses: { 200: patch },
    errors: [409],
  }),
};

export interface JobTimelineRouteDeps {
  admit: Admission;
  readJob: ReadJob;
  timeline: JobTimelineStore;
  images: JobImageStore;
}

export function createJobTimelineRouter({ admit, readJob, timeline, images }: JobTimelineRouteDeps): AppRouter {
  return mountRoutes(admit, jobTimelineRoutes, {
    async listAgentJobTurns({ caller, params, query }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      const { rows, isFull } = await timeline.turns(caller, id, query);
      return { turns: rows.map(presentTurn), nextAfter: isFull ? (rows.at(-1)?.turn ?? null) : null };
    },

    async listAgentJobSteps({ caller, params, query }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      const { rows, isFull } = await timeline.steps(caller, id, query);
      const last = isFull ? rows.at(-1) : undefined;
      return { steps: rows.map(presentStep), nextAfter: last === undefined ? null : `${last.turn}.${last.step}` };
    },

    async getAgentJobStep({ caller, params: { projectId, id, turn, step } }) {
      const job = await readJob(caller, projectId, id);
      const row = await timeline.step(caller, { jobId: job.id, turn, step });
      if (row === null) throw stepNotFound();
      return presentStep(row);
    },

    async getAgentJobStepDiff({ caller, params: { projectId, id, turn, step } }) {
      const { id: jobId } = await readJob(caller, projectId, id);
      const change = await timeline.changeOf(caller, { jobId, turn, step });
      if (change === null) throw stepNotFound();
      if (change.patch === null && change.hasChanged) throw stepChangeNotStored();
      return change.patch ?? '';
    },

    async getAgentJobImage({ ctx, caller, params }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      const content = await images.content(caller, id, params.hash);
      const read = content === null ? null : readImage(content);
      if (content === null || read === null || !('image' in read)) throw imageNotFound();
      ctx.set('Content-Security-Policy', "default-src 'none'; sandbox");
      ctx.set('Content-Disposition', 'inline');
      ctx.set('Cache-Control', 'private, max-age=86400, immutable');
      ctx.type = read.image.mediaType;
      ctx.body = content;
    },

    async getAgentJobDiff({ caller, params, query: { turn, step } }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      const found =
        turn === undefined || step === undefined
          ? await timeline.latestPatch(caller, id)
          : await timeline.patchAt(caller, { jobId: id, turn, step });
      return found ?? '';
    },
  });
}
