import type { GapStore } from '../../db/sites/gaps.ts';
import type { JobRow, JobStore } from '../../db/jobs/jobs.ts';
import type { ProjectRow, ProjectStore } from '../../db/organizations/projects.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { presentJob } from '../../db/jobs/agent-job.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import type { JobCreation } from '../jobs/create-job.ts';
import { gapNotFound, invalidRequest, jobNotFound, projectNotFound } from '../http/errors.ts';
import { gapJobSchema } from './gap-schemas.ts';
import { mayBegin, promptOfGap, type Gap, type Gaps } from './gaps.ts';
import { hasBody, readJsonBody } from '../http/json-body.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import { presentGap } from './present-gap.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';
import type { SiteAccess } from './site-access.ts';

export interface GapRouteDeps {
  access: Pick<SiteAccess, 'forAdmin'>;
  jobPolicy: RateLimitPolicy;
  gapReader: Gaps;
  gaps: Pick<GapStore, 'begin' | 'recheck'>;
  projects: Pick<ProjectStore, 'get' | 'findOn'>;
  jobs: Pick<JobStore, 'find'>;
  creation: JobCreation;
  onCreated: () => void;
}

const largestBody = 128 * 1024;
const base = '/v1/sites/:domain/gaps';

/** Gaps of a site's documentation: what readers asked in vain, and the jobs that answer it. */
export function createGapsRouter(deps: GapRouteDeps): AppRouter {
  const { access, gapReader, gaps, creation } = deps;
  const router = createRouter();

  async function gapOf(
    ctx: AppContext & { params: Record<string, string | undefined> },
  ): Promise<{ site: SiteRow; caller: ApiCaller; gap: Gap }> {
    const { site, caller } = await access.forAdmin(ctx, ctx.params['domain'] ?? '');
    const gap = await gapReader.find(site, ctx.params['id'] ?? '');
    if (gap === null) throw gapNotFound();
    ctx.set('Cache-Control', 'no-store');
    return { site, caller, gap };
  }

  /** The project that is named, else the one on the site's repository, else the only one. */
  async function projectOf(site: SiteRow, id: string | undefined): Promise<ProjectRow> {
    const found = await (id === undefined ? deps.projects.findOn(site, site.repository) : deps.projects.get(site, id));
    if (found !== null) return found;
    if (id !== undefined) throw projectNotFound();
    throw invalidRequest('projectId is missing; no project is on the repository of the site.');
  }

  async function jobOf(caller: ApiCaller, gap: Gap | null): Promise<JobRow> {
    const found = gap?.job ?? null;
    const job = found === null ? null : await deps.jobs.find(caller, found.projectId, found.id);
    if (job === null) throw jobNotFound();
    return job;
  }

  router.get(base, async (ctx) => {
    const { site } = await access.forAdmin(ctx, ctx.params['domain'] ?? '');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { gaps: (await gapReader.list(site)).map(presentGap) };
  });

  router.post(`${base}/:id/job`, async (ctx) => {
    const { site, caller, gap } = await gapOf(ctx);
    const body = hasBody(ctx.req) ? await readJsonBody(ctx.req, { maxBytes: largestBody }) : {};
    const { projectId, instructions } = gapJobSchema.parse(body);
    if (!mayBegin(gap)) {
      ctx.body = presentJob(await jobOf(caller, gap));
      return;
    }
    const project = await projectOf(site, projectId);
    const attempt = gap.attempt + 1;
    const prompt = promptOfGap({ site, gap, instructions });
    const checked = await creation.check({
      project,
      body: { prompt, source: sourceOf(site, project) },
      idempotencyKey: null,
    });
    const counter = { key: `job:${project.id}`, policy: deps.jobPolicy };
    const begun = await gaps.begin(
      caller,
      { ...gap, siteId: site.id },
      { number: attempt, job: { ...checked, counter } },
    );
    if (begun === null) {
      // somebody else was quicker
      ctx.body = presentJob(await jobOf(caller, await gapReader.find(site, gap.id)));
      return;
    }
    ctx.state.turn = { jobId: begun.job.id, turn: begun.job.turn };
    if (begun.allowance !== null) ctx.set(rateLimitFields([{ ...counter, answer: begun.allowance }]));
    deps.onCreated();
    ctx.status = 201;
    ctx.set('Location', `/v2/agent/${project.id}/job/${begun.job.id}`);
    ctx.body = presentJob(begun.job);
  });

  router.post(`${base}/:id/check`, async (ctx) => {
    const { site, caller, gap } = await gapOf(ctx);
    await gaps.recheck(caller, { ...gap, siteId: site.id });
    ctx.status = 202;
    ctx.body = presentGap((await gapReader.find(site, gap.id)) ?? gap);
  });

  return router;
}

/** The site's repository, where the project may work on it too. */
function sourceOf({ repository }: SiteRow, project: ProjectRow) {
  return repository !== null && project.allowedRepositories.includes(repository) ? { repository } : undefined;
}
