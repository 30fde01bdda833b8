import { z } from 'zod';
import type { IncomingMessage } from 'node:http';
import type { OrganizationStore } from '../../db/organizations/organizations.ts';
import type { ProjectStore } from '../../db/organizations/projects.ts';
import type { SessionLookup } from '../../db/for-service/session-lookup.ts';
import { roles } from '../../lib/roles.ts';
import type { SessionRow, SessionStore } from '../../db/organizations/sessions.ts';
import type { OperatorView } from '../../db/operations/operator-view.ts';
import type { SiteStore } from '../../db/sites/sites.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { foreignPage, tooManyRequests, unauthorized, wrongKeyKind } from '../http/errors.ts';
import type { FailedAttempts } from '../access/failed-attempts.ts';
import { maxSessions, type SessionCookie } from '../access/session-cookie.ts';
import { notSignedInTo } from '../access/errors.ts';
import type { VerifyKey } from '../access/verify-key.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';
import { maxChoices } from '../../db/page.ts';
import { nameSchema } from '../../lib/inputs/administration.ts';
import { closedBody } from '../http/closed-object.ts';
import { time } from '../../lib/time-schemas.ts';

/** Body of `POST /v1/session`, with exactly one of the two fields. */
const signInSchema = closedBody({
  key: z.string().max(200).optional().meta({ description: 'An admin API key.' }),
  link: z.string().max(200).optional().meta({ description: 'The text of a sign-in link, which works once.' }),
}).refine(({ key, link }) => (key === undefined) !== (link === undefined), 'must contain either key or link');

/** Body of `POST /v1/sign-in-links`. */
const createSignInLinkSchema = closedBody({
  name: nameSchema.optional().meta({ description: 'Name of the person who signs in with it, for the audit log.' }),
  role: z.enum(roles).optional().meta({ description: 'The highest role of the session. Defaults to admin.' }),
});

const signInLinkSchema = z.object({
  link: z.string().meta({ description: 'Returned only once; the dashboard accepts it at /sign-in#link=…' }),
});

/** More than the providers have together. */
const maxModels = 500;

/** Body of `POST /v1/session/organization`. */
const switchSchema = closedBody({ id: z.string().max(64) });

const sessionSchema = z.object({
  organization: z.object({ id: z.string(), name: z.string() }),
  organizations: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .max(maxSessions)
    .meta({ description: 'The organizations that this browser is signed in to, the current one first.' }),
  keyId: z.string().meta({ description: 'The API key that the session acts for.' }),
  person: z.string().nullable().meta({ description: 'Name of the signed-in user, from the sign-in link.' }),
  role: z
    .enum(roles)
    .meta({ description: 'What the session may do: the lesser of the roles of its key and its link.' }),
  expiresAt: time,
  projects: z
    .array(z.object({ id: z.string(), name: z.string(), repository: z.string(), model: z.string().nullable() }))
    .max(maxChoices),
  sites: z.array(z.object({ domain: z.string() })).max(maxChoices),
  defaults: z.object({ agentModel: z.string(), assistantModel: z.string() }),
  models: z
    .array(
      z.object({
        name: z.string(),
        inputUsd: z.number(),
        outputUsd: z.number(),
        problem: z.string().nullable().meta({ description: 'Why it cannot be used, such as a missing key.' }),
      }),
    )
    .max(maxModels)
    .meta({ description: 'Models with known prices, in US dollars per million tokens; those that can be used first.' }),
  temporalUiUrl: z.string().nullable().meta({
    description: "URL of Temporal's web interface; null if none is known or this organization may not see it.",
  }),
  temporalNamespace: z.string().nullable().meta({
    description: 'The namespace of the jobs in Temporal; null if temporalUiUrl is null.',
  }),
});
type PublicSession = z.infer<typeof sessionSchema>;

/**
 * Routes for signing in and out of the dashboard. An admin key or a one-time link is exchanged for a session cookie.
 */
export const sessionRoutes = {
  signIn: defineRoute({
    method: 'post',
    path: '/v1/session',
    summary: 'Signs in to the dashboard.',
    description:
      'Exchanges an admin key, or the text of a sign-in link, for a cookie (HttpOnly, SameSite=Strict, 12 hours). The cookie acts for an API key and keeps the sessions of other organizations. With it, requests that change something must come from a page of the service.',
    key: 'none',
    body: signInSchema,
    maxBytes: 4_096,
    responses: { 201: json('The session; its cookie is set.', sessionSchema) },
    errors: [401, 403, 429, 503],
  }),
  getSession: defineRoute({
    method: 'get',
    path: '/v1/session',
    summary: 'Returns the current session with its organization, projects and sites.',
    key: 'session',
    responses: { 200: json('The session.', sessionSchema) },
  }),
  switchOrganization: defineRoute({
    method: 'post',
    path: '/v1/session/organization',
    summary: 'Switches to the session of another organization that this browser is signed in to.',
    key: 'session',
    role: 'viewer',
    body: switchSchema,
    maxBytes: 4_096,
    responses: { 200: json('That session.', sessionSchema) },
    errors: [404],
  }),
  signOut: defineRoute({
    method: 'delete',
    path: '/v1/session',
    summary: 'Signs out of all organizations.',
    key: 'session',
    role: 'viewer',
    responses: { 204: { description: 'The session has ended.' } },
  }),
  signOutAll: defineRoute({
    method: 'delete',
    path: '/v1/sessions',
    summary: 'Ends every session of the organization.',
    responses: { 204: { description: 'All sessions have ended.' } },
  }),
  createSignInLink: defineRoute({
    method: 'post',
    path: '/v1/sign-in-links',
    summary: 'Creates a link that signs in to the dashboard once, within 15 minutes.',
    description: 'Requires an admin key, because a session could otherwise extend itself.',
    body: createSignInLinkSchema,
    maxBytes: 4_096,
    responses: { 201: json('The link, which is shown only once.', signInLinkSchema) },
  }),
};

export interface SessionRouteDeps {
  admit: Admission;
  verifyKey: VerifyKey;
  failures: FailedAttempts;
  addressOf: (request: IncomingMessage) => string;
  cookie: SessionCookie;
  sessions: Pick<SessionStore, 'open' | 'createLink' | 'revoke' | 'revokeAll'>;
  signedIn: SessionLookup;
  organizations: Pick<OrganizationStore, 'get'>;
  projects: Pick<ProjectStore, 'names'>;
  sites: Pick<SiteStore, 'domains'>;
  operatorView: Pick<OperatorView, 'isOpenTo'>;
  defaults: PublicSession['defaults'];
  models: PublicSession['models'];
  temporalUiUrl: string | null;
  temporalNamespace: string;
}

export function createSessionRouter(deps: SessionRouteDeps): AppRouter {
  const { cookie, sessions, signedIn } = deps;

  async function open(ctx: AppContext, { key, link }: z.infer<typeof signInSchema>): Promise<SessionRow> {
    if (link !== undefined) return openByLink(ctx, link);
    const verified = await deps.verifyKey(ctx.req, key ?? null);
    if (verified.kind !== 'admin') throw wrongKeyKind('admin');
    const session = await sessions.open(verified);
    if (session === null) throw unauthorized('The API key is unknown, expired or revoked.');
    return session;
  }

  /** Opens a session by a link. Invalid links count like invalid keys; too many are refused without a query. */
  async function openByLink(ctx: AppContext, link: string): Promise<SessionRow> {
    const address = deps.addressOf(ctx.req);
    const blockedSeconds = deps.failures.blockedSeconds(address);
    if (blockedSeconds > 0) throw tooManyRequests(blockedSeconds);
    const session = await signedIn.openByLink(link);
    if (session !== null) return session;
    const waitSeconds = await deps.failures.count(address);
    if (waitSeconds > 0) throw tooManyRequests(waitSeconds);
    throw unauthorized(
      'This sign-in link is invalid, expired or already used. Sign in with an admin key, or print a new link.',
    );
  }

  /** Returns the sessions of other organizations in the request's cookie that are still valid. */
  async function othersThan(organizationId: string, ctx: AppContext): Promise<SessionRow[]> {
    const found = await Promise.all(cookie.read(ctx.req).map((id) => signedIn.find(id)));
    const valid = found.filter((session) => session !== null);
    return valid.filter((session) => session.organizationId !== organizationId).slice(0, maxSessions - 1);
  }

  /** Makes a session the current one of the browser. */
  async function choose(ctx: AppContext, session: SessionRow): Promise<PublicSession> {
    const others = await othersThan(session.organizationId, ctx);
    ctx.set('Set-Cookie', cookie.set([session, ...others].map(({ id }) => id)));
    return present(session, others);
  }

  async function nameOf(organizationId: string): Promise<PublicSession['organization']> {
    const organization = await deps.organizations.get({ organizationId });
    return { id: organizationId, name: organization?.name ?? organizationId };
  }

  async function present(
    { organizationId, keyId, person, role, expiresAt }: Omit<SessionRow, 'id'>,
    others: SessionRow[],
  ): Promise<PublicSession> {
    const [organizations, projects, sites, isOpen] = await Promise.all([
      Promise.all([organizationId, ...others.map((other) => other.organizationId)].map(nameOf)),
      deps.projects.names({ organizationId }),
      deps.sites.domains({ organizationId }),
      deps.operatorView.isOpenTo({ organizationId }),
    ]);
    return {
      organization: organizations[0] ?? { id: organizationId, name: organizationId },
      organizations,
      keyId,
      person,
      role,
      expiresAt: expiresAt.toISOString(),
      projects: projects.map((project) => ({ ...project, repository: repositoryUrl(project.repository) })),
      sites,
      defaults: deps.defaults,
      models: deps.models.slice(0, maxModels),
      ...(isOpen && deps.temporalUiUrl !== null
        ? { temporalUiUrl: deps.temporalUiUrl, temporalNamespace: deps.temporalNamespace }
        : { temporalUiUrl: null, temporalNamespace: null }),
    };
  }

  return mountRoutes(deps.admit, sessionRoutes, {
    async signIn({ ctx, body }) {
      const { origin, 'sec-fetch-site': site } = ctx.req.headers;
      if ((origin !== undefined || site !== undefined) && !cookie.isFromOurPage(ctx.req)) throw foreignPage();
      const session = await open(ctx, await body());
      return choose(ctx, session);
    },

    getSession: async ({ ctx, caller }) => present(caller, await othersThan(caller.organizationId, ctx)),

    async switchOrganization({ ctx, caller, body }) {
      const { id } = await body();
      const others = await othersThan(caller.organizationId, ctx);
      const session = others.find(({ organizationId }) => organizationId === id);
      if (session === undefined) throw notSignedInTo();
      return choose(ctx, session);
    },

    async signOut({ ctx, caller }) {
      const others = await othersThan(caller.organizationId, ctx);
      for (const { organizationId, keyId, id } of others)
        await sessions.revoke({ organizationId, keyId, sessionId: id });
      await sessions.revoke(caller);
      ctx.set('Set-Cookie', cookie.clear());
    },

    async signOutAll({ ctx, caller }) {
      await sessions.revokeAll(caller);
      ctx.set('Set-Cookie', cookie.clear());
    },

    async createSignInLink({ caller, body }) {
      if (caller.sessionId !== null) throw unauthorized('Use an admin key: a session cannot create a sign-in link.');
      const { name, role } = await body();
      return { link: await sessions.createLink(caller, { keyId: caller.keyId, person: name, role }) };
    },
  });
}
