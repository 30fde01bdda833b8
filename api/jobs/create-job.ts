import type { Caller, Owner } from '../../db/caller.ts';
import type { GrantStore } from '../../db/organizations/grants.ts';
import { newId } from '../../db/ids.ts';
import type { CreatedJob, EarlierJob, Idempotency, JobStore, NewJob } from '../../db/jobs/jobs.ts';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import { parseRef } from '../../lib/inputs/ref.ts';
import { isSameRepository, parseRepository } from '../../lib/inputs/repository.ts';
import type { RepositoryRules } from '../../lib/inputs/repository.ts';
import { invalidRequest } from '../http/errors.ts';
import { createGrantChecks } from '../administration/grant-checks.ts';
import { checkModels, namedModels } from '../administration/named-models.ts';
import { refOf as imageRefOf } from '../../db/jobs/job-images.ts';
import { checkImages } from './prompt-images.ts';
import { hashOfRequest } from '../http/idempotency-key.ts';
import type { CreateJobBody } from './job-schemas.ts';

export interface CreateJobDeps {
  jobs: Pick<JobStore, 'create' | 'findEarlier'>;
  grants: GrantStore;
  problemWithModel: (name: string) => string | null;
  seesImages: (model: string) => boolean;
  defaultModel: string;
  repositories: RepositoryRules;
}

interface JobRequest {
  project: ProjectRow;
  body: CreateJobBody;
  idempotencyKey: string | null;
}

type CheckedJob = NewJob;

export type JobCreation = ReturnType<typeof createJobCreation>;

/** Creates the operations that turn a request into a job and its outbox row. */
export function createJobCreation({ jobs, problemWithModel, seesImages, defaultModel, ...deps }: CreateJobDeps) {
  const repositories = { ...deps.repositories, mayUseSsh: true };
  const { checkRepositories } = createGrantChecks(deps);

  function repositoryOf(project: ProjectRow, text: string | undefined): string {
    if (text === undefined || text === project.repository) return project.repository;
    const parsed = parseRepository(text, repositories);
    if (!parsed.ok) throw invalidRequest(parsed.problem);
    const allowed = [project.repository, ...project.allowedRepositories].find((one) =>
      isSameRepository(canonicalOf(one) ?? one, parsed.repository),
    );
    if (allowed !== undefined) return allowed;
    throw invalidRequest(
      'The project may not use this repository. An admin can add it to the allowedRepositories of the project.',
    );
  }

  function canonicalOf(stored: string): string | null {
    const parsed = parseRepository(stored, repositories);
    return parsed.ok ? parsed.repository : null;
  }

  function modelsOf(project: ProjectRow, body: CreateJobBody): Pick<NewJob, 'model' | 'fallbackModels'> {
    const [named, ...others] = namedModels(body, problemWithModel) ?? [];
    if (named !== undefined) return { model: named, fallbackModels: others };
    const model = project.model ?? defaultModel;
    const { fallbackModels } = project;
    checkModels([model, ...fallbackModels], problemWithModel);
    return { model, fallbackModels };
  }

  return {
    /** Returns the earlier use of the Idempotency-Key, or null for a new request. It repeats no checks. */
    findEarlier: (owner: Owner, { project, body, idempotencyKey }: JobRequest): Promise<EarlierJob | null> =>
      jobs.findEarlier(owner, project.id, idempotencyOf(body, idempotencyKey)),

    /** Throws ApiError when the request names something the project may not use. */
    async check({ project, body, idempotencyKey }: JobRequest): Promise<CheckedJob> {
      const repository = repositoryOf(project, body.source?.repository);
      const { model, fallbackModels } = modelsOf(project, body);
      const { images = [] } = body;
      checkImages(images, model, seesImages);
      const { forgeUrl, hasCredential } = project;
      await checkRepositories(project, { repositories: [repository], forgeUrl, needsCredential: !hasCredential });
      return {
        id: newId('job_'),
        projectId: project.id,
        prompt: body.prompt,
        images,
        repository,
        // the project's default ref belongs to its own repository
        requestedRef: refOf(body.source?.ref) ?? (repository === project.repository ? project.defaultRef : null),
        model,
        fallbackModels,
        reasoningEffort: body.reasoningEffort === undefined ? project.reasoningEffort : body.reasoningEffort,
        maxOutputTokens: body.maxOutputTokens === undefined ? project.maxOutputTokens : body.maxOutputTokens,
        draft: body.draft ?? false,
        planReview: body.plan === undefined ? project.planReview : body.plan === 'review',
        mayAsk: body.ask ?? project.mayAsk,
        idempotency: idempotencyOf(body, idempotencyKey),
      };
    },

    write: (caller: Caller, job: CheckedJob): Promise<CreatedJob> => jobs.create(caller, job),
  };
}

function refOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const parsed = parseRef(text);
  if (!parsed.ok) throw invalidRequest(parsed.problem);
  return parsed.ref;
}

/** Returns the idempotency record of a request. The hash does not depend on the order of the body's fields. */
function idempotencyOf(body: CreateJobBody, key: string | null): Idempotency | null {
  const { prompt, images = [], source, model, draft, plan, ask, models, reasoningEffort, maxOutputTokens } = body;
  const requested: unknown[] = [prompt, source?.repository ?? null, source?.ref ?? null, model ?? null, draft ?? false];
  // left out when absent, so that the hash of such a body stays the same over versions
  const settings = [models, reasoningEffort, maxOutputTokens];
  const hasSettings = settings.some((value) => value !== undefined);
  if (plan !== undefined || ask !== undefined || hasSettings) requested.push(plan ?? null, ask ?? null);
  if (hasSettings) requested.push(settings.map((value) => (value === undefined ? 'default' : value)));
  requested.push(...images.map((image) => imageRefOf(image).hash));
  return key === null ? null : { key, requestHash: hashOfRequest(requested) };
}
