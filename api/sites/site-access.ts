import type { SiteRow, SiteStore } from '../../db/sites/sites.ts';
import type { AppContext } from '../http/app-context.ts';
import { siteNotFound } from '../http/errors.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import type { Authenticate } from '../access/authentication.ts';
import type { EnforceRateLimit } from '../access/rate-limit.ts';
import type { KeyUses } from '../access/key-uses.ts';
import { ApiError } from '../http/errors.ts';
import type { IncomingMessage } from 'node:http';

export interface SiteAccessDeps {
  authenticate: Authenticate;
  enforceRateLimit: EnforceRateLimit;
  sites: Pick<SiteStore, 'findByDomain'>;
  addressOf: (request: IncomingMessage) => string;
  keyUses: Pick<KeyUses, 'note'>;
  limits: { perOrganizationAndHour: number; perAddressAndDay: number };
}

/** How requests come to a site. A missing site and another organization's are the same 404. */
export interface SiteAccess {
  /** With an assistant key; counted against the organization's and the address's limits. */
  forReader(ctx: AppContext, domain: string): Promise<{ site: SiteRow; caller: ApiCaller }>;
  /** With an admin key. */
  forAdmin(ctx: AppContext, domain: string): Promise<{ site: SiteRow; caller: ApiCaller }>;
}

const secondsPerHour = 3_600;
const secondsPerDay = 86_400;

export function createSiteAccess({
  authenticate,
  enforceRateLimit,
  sites,
  addressOf,
  keyUses,
  limits,
}: SiteAccessDeps): SiteAccess {
  async function siteOf(domain: string, caller: ApiCaller): Promise<SiteRow> {
    const site = await sites.findByDomain(caller, domain);
    if (site === null) throw siteNotFound();
    return site;
  }

  return {
    async forReader(ctx, domain) {
      const caller = await authenticate(ctx.req, 'assistant');
      const counters = [
        {
          key: `assistant-ip:${addressOf(ctx.req)}`,
          policy: { name: 'ip', limit: limits.perAddressAndDay, windowSeconds: secondsPerDay },
        },
        {
          key: `assistant-org:${caller.organizationId}`,
          policy: { name: 'org', limit: limits.perOrganizationAndHour, windowSeconds: secondsPerHour },
        },
      ];
      await enforceRateLimit(ctx, counters).then(
        () => keyUses.note(caller.keyId, false),
        (error: unknown) => {
          if (error instanceof ApiError && error.status === 429) keyUses.note(caller.keyId, true);
          throw error;
        },
      );
      return { site: await siteOf(domain, caller), caller };
    },
    async forAdmin(ctx, domain) {
      const caller = await authenticate(ctx.req, 'admin');
      return { site: await siteOf(domain, caller), caller };
    },
  };
}
