import type { SiteRow } from '../../db/sites/sites.ts';
import type { Source } from '../../db/sites/threads.ts';
import type { SearchHit } from '../../search/query/search-request.ts';
import type { LeasedIndex } from './site-indexes.ts';
import { urlOf } from './retrieve.ts';

/** Returns a cited page as a source, at the best of its passages that are known. */
export function sourceOf({
  path,
  index,
  known,
  site,
  position,
}: {
  path: string;
  index: LeasedIndex;
  known: SearchHit[];
  site: SiteRow;
  position: number;
}): Source {
  const hit = known.find((candidate) => candidate.path === path);
  const metadata = hit?.metadata ?? index.page(path)?.metadata;
  return {
    id: `src_${position}`,
    path,
    url: urlOf({ path, anchor: hit?.anchor ?? null, metadata }, site.baseUrl),
    title: hit?.title ?? metadata?.title ?? path,
  };
}
