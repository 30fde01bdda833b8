import { isAbsolute } from 'node:path';
import type { SiteRow, SiteStore } from '../../db/sites.ts';
import { parseRef } from '../../workflows/contract/ref.ts';
import { CommandError } from './context.ts';

/** A site by its domain. */
export async function siteOf(sites: SiteStore, domain: string): Promise<SiteRow> {
  const site = await sites.findByDomain(domain);
  if (site !== null) return site;
  throw new CommandError(`There is no site ${JSON.stringify(domain)}; "docket site list" shows those that exist.`);
}

/** Refuses what cannot name the source of a site, or its address. */
export function checkSource({ directory, ref, baseUrl }: { directory?: string; ref?: string; baseUrl?: string }): void {
  if (directory !== undefined && !isAbsolute(directory))
    throw new CommandError('--directory must be an absolute path.');
  if (ref !== undefined && !parseRef(ref).ok)
    throw new CommandError(`${JSON.stringify(ref)} is not the name of a branch.`);
  if (baseUrl !== undefined && !(URL.canParse(baseUrl) && /^https?:\/\//.test(baseUrl))) {
    throw new CommandError('--base-url must be an http or https address.');
  }
}

/** A folder below the source, without leading or trailing slashes. */
export function folderOf(text: string): string {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || parts.includes('.git'))
    throw new CommandError('--path must be a folder below the repository or directory.');
  return parts.join('/');
}
