import type { ThreadSource } from '../../../db/sites/site-sources.ts';
import type { SiteRef } from '../../../db/caller.ts';
import type { SourceThread } from '../../../db/sites/source-threads.ts';
import type { Egress } from '../../../lib/network/egress.ts';
import type { FrontMatter } from '../../../search/read/front-matter.ts';
import type { ForgeApi } from '../../forges/forge-api.ts';
import { SourceFolderError, type FolderFile } from '../../workspaces/source-folder.ts';
import { revisionOf, type OpenedSource } from '../opened-source.ts';
import { createDiscussionClient } from './discussion-client.ts';
import { createForumClient } from './forum-client.ts';
import { createIssueClient } from './issue-client.ts';
import { readThreads, type ThreadDeps, type WantedThreads } from './read-threads.ts';

const unknownForge =
  'Docket does not know which forge has this repository. Create a project for the repository that names its forge.';

export interface ThreadSourceDeps extends ThreadDeps {
  /** The way to forums. */
  egress: Pick<Egress, 'fetch'>;
  /** Returns the way to a repository; null for a server that is not known. */
  forgeOf(repository: string): Promise<ForgeApi | null>;
}

/** Opens issues, discussions or the topics of a forum. Errors: SourceFolderError. */
export async function openThreads(
  deps: ThreadSourceDeps,
  { site, added, signal }: { site: SiteRef; added: ThreadSource; signal: AbortSignal },
): Promise<OpenedSource> {
  const { store } = deps;
  const source = await wantedOf(deps, site, added);
  const { groups } = source;
  const result = await readThreads(deps, { source, signal });
  const files = result.threads.map((thread) => fileOfThread(thread, groups));
  return {
    ...result,
    revision: revisionOf(files),
    async read(isKnown) {
      const unknown = result.threads.filter((_thread, at) => !isKnown(files[at] ?? { path: '', name: '' }));
      const contents = await store.contents(
        source,
        unknown.map(({ id }) => id),
      );
      return result.threads.map((thread) => {
        const content = contents.get(thread.id);
        const page = content === undefined ? null : Buffer.from(withGroups(content, groups));
        return { ...fileOfThread(thread, groups), content: page };
      });
    },
  };
}

async function wantedOf(
  { egress, forgeOf, limits }: ThreadSourceDeps,
  { id, organizationId }: SiteRef,
  added: ThreadSource,
): Promise<WantedThreads> {
  const { kind, threads, prefix } = added;
  const wanted = { id, organizationId, prefix, threads };
  if (kind === 'discourse') {
    const { url, tags } = added;
    return {
      ...wanted,
      labels: tags,
      groups: [],
      settings: JSON.stringify([kind, url, threads, tags]),
      connect: (signal) => createForumClient({ url, egress, delayMs: limits.forumDelayMs, signal }),
    };
  }
  const { repository, labels, groups } = added;
  const api = await forgeOf(repository);
  if (api === null) throw new SourceFolderError(unknownForge);
  if (kind === 'discussions' && api.kind !== 'github')
    throw new SourceFolderError(`${api.forge} has no discussions. Docket reads those of GitHub.`);
  const create = kind === 'issues' ? createIssueClient : createDiscussionClient;
  return {
    ...wanted,
    labels,
    groups,
    settings: JSON.stringify([kind, repository, threads, labels]),
    connect: (signal) => create({ api, delayMs: limits.delayMs, signal }),
  };
}

/** The groups are part of the page, so that others make another version of it. */
function fileOfThread({ id, name }: SourceThread, groups: string[]): FolderFile {
  const version = groups.length === 0 ? (name ?? '') : revisionOf([{ path: name ?? '', name: JSON.stringify(groups) }]);
  return { path: `${id}.md`, name: version, content: null };
}

function withGroups(content: string, groups: string[]): string {
  const page: FrontMatter = JSON.parse(content);
  return JSON.stringify(groups.length === 0 ? page : { ...page, values: { ...page.values, groups } });
}
