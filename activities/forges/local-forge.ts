import type { WorkerPullRequestStore } from '../../db/for-worker/pull-requests.ts';
import { nextText } from './ensure-pull-request.ts';
import { ForgeError, type Forge } from './forge.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

/** Creates the forge that stores pull requests in the database; the API serves them below `baseUrl`. They have no marks. */
export function createLocalForge({
  pullRequests,
  baseUrl,
}: {
  pullRequests: WorkerPullRequestStore;
  baseUrl: string;
}): Forge {
  const root = trimEndSlashes(baseUrl);
  return {
    credential: () => null,
    async ensurePullRequest({ repository, head, base, title, body, previous, draft, signal, beforeEffect }) {
      if (signal.aborted) throw new ForgeError('aborted', 'The pull request was not opened: the job was stopped.');
      const existing = await pullRequests.findByHead(repository, head);
      const text = existing === null ? { title, body } : nextText(existing, { title, body, previous });
      if (text !== null) await beforeEffect();
      const row =
        existing === null
          ? await pullRequests.create({ repository, head, base, title, body, draft })
          : ((text === null ? null : await pullRequests.update(existing.id, text)) ?? existing);
      return { id: row.id, url: `${root}/pulls/${row.id}`, state: row.state, draft: row.draft, notes: [] };
    },
    async pullRequestState({ id }) {
      const { state = 'closed', draft = false } = (await pullRequests.get(id)) ?? {};
      return { state, draft };
    },
  };
}
