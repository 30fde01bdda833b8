import type { Owner } from '../../db/caller.ts';
import type { SiteRow, SiteStore } from '../../db/sites/sites.ts';
import { remember } from '../../lib/remember.ts';
import { freshMs, steadyNow } from './fresh-ms.ts';

export type SiteLimits = Pick<SiteRow, 'id' | 'requestsPerMinute' | 'requestsPerDay'>;

/** Returns the limits of a site; null when there is no such site. */
export type SiteLimitsOf = (owner: Owner, domain: string) => Promise<SiteLimits | null>;

/** Creates a lookup of sites' limits, which asks the store at most once every few seconds per site. */
export function createSiteLimits({
  sites,
  now = steadyNow,
}: {
  sites: Pick<SiteStore, 'findByDomain'>;
  now?: () => number;
}): SiteLimitsOf {
  const known = new Map<string, { loadedAt: number; limits: Promise<SiteLimits | null> }>();
  return async (owner, domain) => {
    const key = `${owner.organizationId}/${domain}`;
    const entry = known.get(key);
    if (entry !== undefined && now() - entry.loadedAt < freshMs) return entry.limits;
    const limits = sites.findByDomain(owner, domain);
    const loaded = { loadedAt: now(), limits };
    remember(known, key, loaded);
    limits.catch(() => known.get(key) === loaded && known.delete(key));
    return limits;
  };
}
