import type { IncomingMessage } from 'node:http';
import type { OrganizationStore } from '../../db/organizations/organizations.ts';
import type { ProjectStore } from '../../db/organizations/projects.ts';
import type { SessionLookup } from '../../db/for-service/session-lookup.ts';
import type { SessionRow, SessionStore } from '../../db/organizations/sessions.ts';
import type { OperatorView } from '../../db/operations/operator-view.ts';
import type { SiteStore } from '../../db/sites/sites.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { foreignPage, tooManyRequests, unauthorized, wrongKeyKind } from '../http/errors.ts';
import type { FailedAttempts } from '../access/failed-attempts.ts';
import { readJsonBody } from '../http/json-body.ts';
import type { Authenticate } from '../access/authentication.ts';
import type { SessionCookie } from '../access/session-cookie.ts';
import { signInSchema, type PublicSession } from './session-schemas.ts';
import type { VerifyKey } from '../access/verify-key.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';

export interface SessionRouteDeps {
  authenticate: Authenticate;
  verifyKey: VerifyKey;
  failures: FailedAttempts;
  addressOf: (request: IncomingMessage) => string;
  cookie: SessionCookie;
  sessions: Pick<SessionStore, 'open' | 'revoke' | 'revokeAll'>;
  signedIn: SessionLookup;
  organizations: Pick<OrganizationStore, 'get'>;
  projects: Pick<ProjectStore, 'names'>;
  sites: Pick<SiteStore, 'domains'>;
  operatorView: Pick<OperatorView, 'isOpenTo'>;
  defaults: PublicSession['defaults'];
  temporalUiUrl: string | null;
  temporalNamespace: string;
}

const largestBody = 4_096;

/** Signing in to the dashboard and out of it: an admin key, or a link that works once, for a session cookie. */
export function createSessionRouter(deps: SessionRouteDeps): AppRouter {
  const { authenticate, cookie, sessions, signedIn } = deps;
  const router = createRouter();

  async function open(ctx: AppContext): Promise<SessionRow> {
    const { key, link } = signInSchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBody }));
    if (link !== undefined) return openByLink(ctx, link);
    const verified = await deps.verifyKey(ctx.req, key ?? null);
    if (verified.kind !== 'admin') throw wrongKeyKind('admin');
    const session = await sessions.open(verified);
    if (session === null) throw unauthorized('The API key is unknown, expired or revoked.');
    return session;
  }

  /** A wrong link counts as a wrong key does; after too many the database is not asked any more. */
  async function openByLink(ctx: AppContext, link: string): Promise<SessionRow> {
    const address = deps.addressOf(ctx.req);
    const blockedSeconds = deps.failures.blockedSeconds(address);
    if (blockedSeconds > 0) throw tooManyRequests(blockedSeconds);
    const session = await signedIn.openByLink(link);
    if (session !== null) return session;
    const waitSeconds = await deps.failures.count(address);
    if (waitSeconds > 0) throw tooManyRequests(waitSeconds);
    throw unauthorized('The link is unknown, used or too old; sign in with an admin key, or print a new link.');
  }

  async function present({ organizationId, expiresAt }: SessionRow): Promise<PublicSession> {
    const [organization, projects, sites, isOpen] = await Promise.all([
      deps.organizations.get({ organizationId }),
      deps.projects.names({ organizationId }),
      deps.sites.domains({ organizationId }),
      deps.operatorView.isOpenTo({ organizationId }),
    ]);
    return {
      organization: { id: organizationId, name: organization?.name ?? organizationId },
      expiresAt: expiresAt.toISOString(),
      projects: projects.map((project) => ({ ...project, repository: repositoryUrl(project.repository) })),
      sites,
      defaults: deps.defaults,
      ...(isOpen && deps.temporalUiUrl !== null
        ? { temporalUiUrl: deps.temporalUiUrl, temporalNamespace: deps.temporalNamespace }
        : { temporalUiUrl: null, temporalNamespace: null }),
    };
  }

  router.post('/v1/session', async (ctx) => {
    const { origin, 'sec-fetch-site': site } = ctx.req.headers;
    if ((origin !== undefined || site !== undefined) && !cookie.isFromOurPage(ctx.req)) throw foreignPage();
    const session = await open(ctx);
    ctx.status = 201;
    ctx.set('Set-Cookie', cookie.set(session.id));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = await present(session);
  });

  router.get('/v1/session', async (ctx) => {
    const sessionId = cookie.read(ctx.req);
    const session = sessionId === null ? null : await signedIn.find(sessionId);
    if (session === null) throw unauthorized('Nobody is signed in: there is no session, or it has ended.');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = await present(session);
  });

  router.delete('/v1/session', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const { sessionId } = caller;
    if (sessionId === null) throw unauthorized('Nobody is signed in: there is no session, or it has ended.');
    await sessions.revoke({ ...caller, sessionId });
    ctx.status = 204;
    ctx.set('Set-Cookie', cookie.clear());
  });

  router.delete('/v1/sessions', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    await sessions.revokeAll(caller);
    ctx.status = 204;
    ctx.set('Set-Cookie', cookie.clear());
  });

  return router;
}
