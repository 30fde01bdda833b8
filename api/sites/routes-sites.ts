import type { Caller, Owner } from '../../db/caller.ts';
import type { GrantStore } from '../../db/organizations/grants.ts';
import {
  DomainTakenError,
  readerKeyOwner,
  type NewSite,
  type ReaderKey,
  type SiteChange,
  type SiteRow,
  type SiteStore,
} from '../../db/sites/sites.ts';
import type { AddedSource } from '../../db/sites/site-sources.ts';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import type { QuestionSetStore } from '../../db/sites/question-sets.ts';
import { questionSetNotFound } from '../evaluations/errors.ts';
import { parseRepository, type RepositoryRules } from '../../lib/inputs/repository.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { domainTaken, invalidRequest, siteNotFound } from '../http/errors.ts';
import { checkAnswerBudget, microsOf, type BudgetCeilings } from '../administration/budget-ceilings.ts';
import { checkModels } from '../administration/named-models.ts';
import { createGrantChecks } from '../administration/grant-checks.ts';
import { listQuerySchema } from '../http/page-schemas.ts';
import { pageOf } from '../http/page-of.ts';
import { presentSite } from '../administration/present-administration.ts';
import type { ReadSite } from './site-reader.ts';
import {
  changeSiteSchema,
  createSiteSchema,
  domain,
  indexSiteSchema,
  type ChangeSiteBody,
  siteListSchema,
  siteSchema,
} from './site-schemas.ts';

const site = json('The site.', siteSchema);

export const siteRoutes = {
  listSites: defineRoute({
    method: 'get',
    path: '/v1/sites',
    summary: 'Lists the documentation sites of the organization.',
    query: listQuerySchema,
    responses: { 200: json('A page of sites, oldest first.', siteListSchema) },
  }),
  createSite: defineRoute({
    method: 'post',
    path: '/v1/sites',
    summary: 'Creates a site and indexes it in the background.',
    body: createSiteSchema,
    example: { domain: 'acme', repository: 'https://github.com/acme/docs' },
    responses: { 201: site },
    errors: [404, 409],
  }),
  getSite: defineRoute({
    method: 'get',
    path: '/v1/sites/{domain}',
    summary: 'Returns a site.',
    params: { domain },
    responses: { 200: site },
  }),
  changeSite: defineRoute({
    method: 'patch',
    path: '/v1/sites/{domain}',
    summary: 'Changes a site. Omitted fields keep their values; a change of its source re-indexes it.',
    params: { domain },
    body: changeSiteSchema,
    responses: { 200: site },
    errors: [409],
  }),
  deleteSite: defineRoute({
    method: 'delete',
    path: '/v1/sites/{domain}',
    summary: 'Deletes a site permanently, with its index and its conversations.',
    params: { domain },
    responses: { 204: { description: 'The site is deleted.' } },
  }),
  indexSite: defineRoute({
    method: 'post',
    path: '/v1/sites/{domain}/index',
    summary: 'Re-indexes a site.',
    role: 'member',
    params: { domain },
    body: indexSiteSchema,
    responses: { 202: json('The site, which is indexed in the background.', siteSchema) },
  }),
};

export interface SiteRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  sites: SiteStore;
  questionSets: Pick<QuestionSetStore, 'find'>;
  box: Pick<SecretBox, 'seal'>;
  grants: GrantStore;
  repositories: RepositoryRules;
  budgets: Pick<BudgetCeilings, 'organizationMicros'>;
  problemWithModel: (name: string) => string | null;
}

export function createSitesRouter(deps: SiteRouteDeps): AppRouter {
  const { readSite, sites, repositories } = deps;
  const { checkRepositories, checkDirectory } = createGrantChecks(deps);
  function repositoryOf(text: string): string {
    const parsed = parseRepository(text, repositories);
    if (!parsed.ok) throw invalidRequest(parsed.problem);
    return parsed.repository;
  }

  function sourceOf(source: AddedSource): AddedSource {
    if (!('repository' in source)) return source;
    const repository = repositoryOf(source.repository);
    if (source.kind !== 'repository' && repository.startsWith('/'))
      throw invalidRequest(
        `A repository on this machine has no ${source.kind}. Use the https:// URL of a repository on a forge.`,
      );
    return { ...source, repository };
  }

  /** Checks a site's sources. A repository needs no credential, because it may be public. */
  async function checkSources(owner: Owner, { repository, directory, sources = [] }: SiteChange): Promise<void> {
    const main: { repository?: string | null; directory?: string | null } = { repository, directory };
    const used: (typeof main)[] = [
      main,
      ...sources.filter((source) => 'repository' in source || 'directory' in source),
    ];
    const repositories = used.flatMap((source) => source.repository ?? []);
    await checkRepositories(owner, { repositories, needsCredential: false });
    for (const source of used) if (source.directory != null) await checkDirectory(owner, source.directory);
  }

  /** The main source has the pages at the top. */
  function checkTargets(hasMain: boolean, sources: readonly AddedSource[]): void {
    if (hasMain && sources.some(({ prefix }) => prefix === ''))
      throw invalidRequest(
        'The empty prefix belongs to the repository or directory. Use another prefix for the source.',
      );
    if (!hasMain && sources.length === 0)
      throw invalidRequest('The site has no repository or directory. Keep at least one of its sources.');
  }

  function sealed(siteId: string, tokens: NonNullable<ChangeSiteBody['readerTokens']>): ReaderKey {
    const key = tokens.algorithm === 'EdDSA' ? tokens.publicKey : tokens.secret;
    return { issuer: tokens.issuer, algorithm: tokens.algorithm, key: deps.box.seal(key, readerKeyOwner(siteId)) };
  }

  async function createOrRefuse(caller: Caller, site: NewSite): Promise<SiteRow> {
    try {
      return await sites.create(caller, site);
    } catch (error) {
      throw error instanceof DomainTakenError ? domainTaken() : error;
    }
  }

  return mountRoutes(deps.admit, siteRoutes, {
    async listSites({ caller, query }) {
      const { rows, nextCursor } = await pageOf(() => sites.list(caller, query));
      return { sites: rows.map(presentSite), nextCursor };
    },

    async createSite({ ctx, caller, body }) {
      const { repository, answerBudgetUsd = null, sources = [], ...rest } = await body();
      const source = {
        directory: rest.directory,
        repository: repository === undefined ? undefined : repositoryOf(repository),
        sources: sources.map(sourceOf),
      };
      checkModels(rest.queryRewriting == null ? [] : [rest.queryRewriting], deps.problemWithModel);
      checkTargets((repository ?? rest.directory) !== undefined, sources);
      await checkSources(caller, source);
      const budget = { answerBudgetMicros: microsOf(answerBudgetUsd) };
      checkAnswerBudget(budget, deps.budgets);
      const created = await createOrRefuse(caller, { ...rest, ...source, ...budget });
      ctx.set('Location', `/v1/sites/${created.domain}`);
      return presentSite(created);
    },

    async getSite({ caller, params }) {
      return presentSite(await readSite(caller, params.domain));
    },

    async changeSite({ caller, params, body }) {
      const site = await readSite(caller, params.domain);
      const { id } = site;
      const { repository, directory, sources, readerTokens, answerBudgetUsd, indexGuard, ...rest } = await body();
      if (indexGuard != null && (await deps.questionSets.find(site, indexGuard.questionSetId)) === null)
        throw questionSetNotFound();
      checkModels(rest.queryRewriting == null ? [] : [rest.queryRewriting], deps.problemWithModel);
      const change: SiteChange = {
        ...rest,
        ...(repository !== undefined && { repository: repositoryOf(repository), directory: null }),
        ...(directory !== undefined && { directory, repository: null }),
        ...(sources !== undefined && { sources: sources.map(sourceOf) }),
        ...(readerTokens !== undefined && { readerTokens: readerTokens && sealed(id, readerTokens) }),
        ...(answerBudgetUsd !== undefined && { answerBudgetMicros: microsOf(answerBudgetUsd) }),
        ...(indexGuard !== undefined && {
          guardSetId: indexGuard?.questionSetId ?? null,
          guardMargin: indexGuard?.margin ?? null,
        }),
      };
      checkAnswerBudget(change, deps.budgets);
      const hasMain = (repository ?? directory ?? site.repository ?? site.directory) !== null;
      checkTargets(hasMain, change.sources ?? site.sources);
      await checkSources(caller, change);
      const changed = await sites.update(caller, id, change);
      if (changed === null) throw siteNotFound();
      return presentSite(changed);
    },

    async deleteSite({ caller, params }) {
      const { id } = await readSite(caller, params.domain);
      if (!(await sites.remove(caller, id))) throw siteNotFound();
    },

    async indexSite({ caller, params, body }) {
      const { id } = await readSite(caller, params.domain);
      const { force: isForced = false } = (await body()) ?? {};
      const requested = await sites.requestIndex(caller, id, { isForced });
      if (requested === null) throw siteNotFound();
      return presentSite(requested);
    },
  });
}
