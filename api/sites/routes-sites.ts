import type { Caller, Owner } from '../../db/caller.ts';
import type { GrantStore } from '../../db/organizations/grants.ts';
import { DomainTakenError, type NewSite, type SiteChange, type SiteRow, type SiteStore } from '../../db/sites/sites.ts';
import { parseRepository, type RepositoryRules } from '../../lib/inputs/repository.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { domainTaken, invalidRequest, siteNotFound } from '../http/errors.ts';
import { createGrantChecks } from '../administration/grant-checks.ts';
import { readJsonBody } from '../http/json-body.ts';
import { listQuerySchema } from '../http/page-schemas.ts';
import { pageOf } from '../http/page-of.ts';
import type { Authenticate } from '../access/authentication.ts';
import { presentSite } from '../administration/present-administration.ts';
import type { SiteAccess } from './site-access.ts';
import { changeSiteSchema, createSiteSchema } from './site-schemas.ts';

export interface SiteRouteDeps {
  authenticate: Authenticate;
  access: Pick<SiteAccess, 'forAdmin'>;
  sites: SiteStore;
  grants: GrantStore;
  repositories: RepositoryRules;
}

const largestBody = 64 * 1024;
const base = '/v1/sites';

/** Sites of the organization: where their pages come from, and their index. */
export function createSitesRouter(deps: SiteRouteDeps): AppRouter {
  const { authenticate, access, sites, repositories } = deps;
  const { checkRepositories, checkDirectory } = createGrantChecks(deps);
  const router = createRouter();

  function repositoryOf(text: string): string {
    const parsed = parseRepository(text, repositories);
    if (!parsed.ok) throw invalidRequest(parsed.problem);
    return parsed.repository;
  }

  /** A hosted repository may be a public one, which a site reads without a credential. */
  async function checkSource(owner: Owner, { repository, directory }: SiteChange): Promise<void> {
    if (typeof repository === 'string')
      await checkRepositories(owner, { repositories: [repository], needsCredential: false });
    if (typeof directory === 'string') await checkDirectory(owner, directory);
  }

  router.get(base, async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    ctx.set('Cache-Control', 'no-store');
    const query = listQuerySchema.parse({ ...ctx.query });
    const { rows, nextCursor } = await pageOf(() => sites.list(caller, query));
    ctx.body = { sites: rows.map(presentSite), nextCursor };
  });

  router.post(base, async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const { repository, ref, baseUrl, refreshMinutes, ...body } = createSiteSchema.parse(await bodyOf(ctx));
    const source = {
      directory: body.directory,
      repository: repository === undefined ? undefined : repositoryOf(repository),
    };
    await checkSource(caller, source);
    const site = await createOrRefuse(caller, {
      ...body,
      ...source,
      ref: ref ?? undefined,
      baseUrl: baseUrl ?? undefined,
      refreshMinutes: refreshMinutes ?? undefined,
    });
    ctx.status = 201;
    ctx.set('Location', `/v1/sites/${site.domain}`);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentSite(site);
  });

  router.get(`${base}/:domain`, async (ctx) => {
    const { site } = await access.forAdmin(ctx, ctx.params['domain'] ?? '');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentSite(site);
  });

  router.patch(`${base}/:domain`, async (ctx) => {
    const { site, caller } = await access.forAdmin(ctx, ctx.params['domain'] ?? '');
    const { repository, directory, ...rest } = changeSiteSchema.parse(await bodyOf(ctx));
    const change: SiteChange = {
      ...rest,
      ...(repository !== undefined && { repository: repositoryOf(repository), directory: null }),
      ...(directory !== undefined && { directory, repository: null }),
    };
    await checkSource(caller, change);
    const changed = await sites.update(caller, site.id, change);
    if (changed === null) throw siteNotFound();
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentSite(changed);
  });

  router.delete(`${base}/:domain`, async (ctx) => {
    const { site, caller } = await access.forAdmin(ctx, ctx.params['domain'] ?? '');
    if (!(await sites.remove(caller, site.id))) throw siteNotFound();
    ctx.status = 204;
  });

  router.post(`${base}/:domain/index`, async (ctx) => {
    const { site, caller } = await access.forAdmin(ctx, ctx.params['domain'] ?? '');
    const requested = await sites.requestIndex(caller, site.id);
    if (requested === null) throw siteNotFound();
    ctx.status = 202;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentSite(requested);
  });

  async function createOrRefuse(caller: Caller, site: NewSite): Promise<SiteRow> {
    try {
      return await sites.create(caller, site);
    } catch (error) {
      throw error instanceof DomainTakenError ? domainTaken() : error;
    }
  }

  return router;
}

function bodyOf(ctx: AppContext): Promise<unknown> {
  return readJsonBody(ctx.req, { maxBytes: largestBody });
}
