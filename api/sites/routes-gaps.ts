import type { GapStore } from '../../db/sites/gaps.ts';
import type { JobRow, JobStore } from '../../db/jobs/jobs.ts';
import type { ProjectRow, ProjectStore } from '../../db/organizations/projects.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { agentJobSchema, presentJob } from '../../db/jobs/agent-job.ts';
import { z } from 'zod';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { JobCreation } from '../jobs/create-job.ts';
import { gapDismissed, gapNotFound, invalidRequest, jobNotFound, projectNotFound } from '../http/errors.ts';
import { gapJobSchema, gapListSchema, gapSchema } from './gap-schemas.ts';
import { mayBegin, promptOfGap, type Gap, type Gaps } from './gaps.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import { presentGap } from './present-gap.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';
import { domain } from './site-schemas.ts';
import { isSameRepository } from '../../lib/inputs/repository.ts';
import type { ReadSite } from './site-reader.ts';

const base = '/v1/sites/{domain}/gaps';
const ofGap = { domain, id: z.string().meta({ description: 'The id of the gap.' }) };

/** Routes for the gaps in a site's documentation: unanswered questions and the jobs that answer them. */
export const gapRoutes = {
  listGaps: defineRoute({
    method: 'get',
    path: base,
    summary: 'Lists the questions of the last 90 days that the documentation did not answer, grouped by topic.',
    params: { domain },
    responses: { 200: json('All gaps.', gapListSchema) },
  }),
  createGapJob: defineRoute({
    method: 'post',
    path: `${base}/{id}/job`,
    summary: 'Creates a job that answers the questions of a gap in the documentation.',
    description:
      'After its pull request is merged, the site is re-indexed and the questions are asked again. While a job is active, the request returns that job with 200.',
    role: 'member',
    params: ofGap,
    body: gapJobSchema,
    maxBytes: 128 * 1024,
    responses: {
      200: json('The active job, or the job whose change answered the questions.', agentJobSchema),
      201: json('The job, which is now active.', agentJobSchema),
    },
    errors: [409],
  }),
  checkGap: defineRoute({
    method: 'post',
    path: `${base}/{id}/check`,
    summary: 'Re-indexes the site and asks the questions of a gap again.',
    role: 'member',
    params: ofGap,
    responses: { 202: json('The gap.', gapSchema) },
    errors: [409],
  }),
  dismissGap: defineRoute({
    method: 'post',
    path: `${base}/{id}/dismiss`,
    summary: 'Dismisses a gap that the documentation need not close.',
    description:
      'Its questions, and similar ones asked later, are no longer listed as open. Its job, if any, continues. Idempotent.',
    role: 'member',
    params: ofGap,
    responses: { 200: json('The gap.', gapSchema) },
  }),
  restoreGap: defineRoute({
    method: 'post',
    path: `${base}/{id}/restore`,
    summary: 'Undoes the dismissal of a gap. Idempotent.',
    role: 'member',
    params: ofGap,
    responses: { 200: json('The gap.', gapSchema) },
  }),
};

export interface GapRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  jobPolicy: RateLimitPolicy;
  gapReader: Gaps;
  gaps: Pick<GapStore, 'begin' | 'recheck' | 'dismiss' | 'restore'>;
  projects: Pick<ProjectStore, 'get' | 'findOn'>;
  jobs: Pick<JobStore, 'find'>;
  creation: JobCreation;
  onCreated: () => void;
}

export function createGapsRouter(deps: GapRouteDeps): AppRouter {
  const { readSite, gapReader, gaps, creation } = deps;

  async function gapOf(site: SiteRow, id: string): Promise<Gap> {
    const gap = await gapReader.find(site, id);
    if (gap === null) throw gapNotFound();
    return gap;
  }

  /** Returns the named project, or else the project on the site's repository, or else the only one. */
  async function projectOf(site: SiteRow, id: string | undefined): Promise<ProjectRow> {
    const found = await (id === undefined ? deps.projects.findOn(site, site.repository) : deps.projects.get(site, id));
    if (found !== null) return found;
    if (id !== undefined) throw projectNotFound();
    throw invalidRequest('projectId is missing, and no project uses the repository of the site. Set it.');
  }

  async function jobOf(caller: ApiCaller, gap: Gap | null): Promise<JobRow> {
    const found = gap?.job ?? null;
    const job = found === null ? null : await deps.jobs.find(caller, found.projectId, found.id);
    if (job === null) throw jobNotFound();
    return job;
  }

  async function changed(
    caller: ApiCaller,
    params: { domain: string; id: string },
    change: 'recheck' | 'dismiss' | 'restore',
  ) {
    const site = await readSite(caller, params.domain);
    const gap = await gapOf(site, params.id);
    if (change === 'recheck' && gap.state === 'dismissed') throw gapDismissed();
    await gaps[change](caller, { ...gap, siteId: site.id });
    return presentGap((await gapReader.find(site, gap.id)) ?? gap);
  }

  return mountRoutes(deps.admit, gapRoutes, {
    async listGaps({ caller, params }) {
      const site = await readSite(caller, params.domain);
      return { gaps: (await gapReader.list(site)).map(presentGap) };
    },

    async createGapJob({ ctx, caller, params, body }) {
      const site = await readSite(caller, params.domain);
      const gap = await gapOf(site, params.id);
      const { projectId, instructions } = await body();
      if (gap.state === 'dismissed') throw gapDismissed();
      if (!mayBegin(gap)) return presentJob(await jobOf(caller, gap));
      const project = await projectOf(site, projectId);
      const attempt = gap.attempt + 1;
      const prompt = promptOfGap({ site, gap, instructions });
      const source = sourceOf(site, project);
      const checked = await creation.check({ project, body: { prompt, source }, idempotencyKey: null });
      const counter = { key: `job:${project.id}`, policy: deps.jobPolicy };
      const job = { ...checked, counter };
      const begun = await gaps.begin(caller, { ...gap, siteId: site.id }, { number: attempt, job });
      // another request has already started the job
      if (begun === null) return presentJob(await jobOf(caller, await gapReader.find(site, gap.id)));
      ctx.state.turn = { jobId: begun.job.id, turn: begun.job.turn };
      if (begun.allowance !== null) ctx.set(rateLimitFields([{ ...counter, answer: begun.allowance }]));
      deps.onCreated();
      ctx.status = 201;
      ctx.set('Location', `/v2/agent/${project.id}/job/${begun.job.id}`);
      return presentJob(begun.job);
    },

    checkGap: ({ caller, params }) => changed(caller, params, 'recheck'),
    dismissGap: ({ caller, params }) => changed(caller, params, 'dismiss'),
    restoreGap: ({ caller, params }) => changed(caller, params, 'restore'),
  });
}

/** Returns the site's repository if the project may also work on it. */
function sourceOf({ repository }: SiteRow, { allowedRepositories }: ProjectRow) {
  const isAllowed = repository !== null && allowedRepositories.some((one) => isSameRepository(one, repository));
  return isAllowed ? { repository } : undefined;
}
