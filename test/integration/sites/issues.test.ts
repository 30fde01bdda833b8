import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { operatorOf } from '../../../db/caller.ts';
import { createSiteStore } from '../../../db/sites/sites.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import type { IssueServerKind } from '../../support/forges/issue-server.ts';
import { reply, token } from '../../support/forges/json-server.ts';
import { answered, startTracker } from './issue-scene.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const slow = { tags: ['slow'], timeout: 120_000 };
const kinds: IssueServerKind[] = ['github', 'gitlab', 'gitea'];

it.each(kinds)('indexes each closed issue of %s that was answered as a page', slow, async (kind) => {
  await using tracker = await startTracker(
    database,
    {
      1: answered('badger', {
        comments: [
          { body: 'The badger digs.', isMaintainer: true },
          { body: 'Thanks!', author: 'asker' },
        ],
      }),
      2: answered('otter', { isClosed: false }),
      3: answered('walrus', { comments: [] }),
      4: answered('lynx', { comments: [{ body: 'I have found it.', author: 'asker' }] }),
      5: answered('finch', { isPullRequest: true }),
    },
    { kind },
  );
  expect(await tracker.index()).toMatchObject({ pages: 1 });
  expect(await tracker.find('badger')).toEqual(['About the badger']);
  for (const word of ['otter', 'walrus', 'lynx', 'finch']) expect(await tracker.find(word)).toEqual([]);
  const answer = kind === 'github' ? 'Answer by a maintainer' : 'Answer';
  expect(await tracker.read('1')).toBe(
    `Where does the badger live?\n\n## ${answer}\n\nThe badger digs.\n\n## Follow-up\n\nThanks!`,
  );
  expect(JSON.stringify(await tracker.read('1'))).not.toMatch(/asker|helper/);
  expect(await tracker.report()).toMatchObject({ pages: 1, problem: null, skipped: [] });
  // the credential is sent, but for the question whether everybody may see them
  const senders = tracker.server.requests.map(({ authorization }) => authorization);
  expect(senders).toContain(null);
  expect(senders).toContain(`Bearer ${token}`);
  expect(tracker.server.requests.every(({ path }) => !path.includes(token))).toBe(true);
});

it.each(kinds)('asks %s for changes only, and drops what is gone', slow, async (kind) => {
  await using tracker = await startTracker(
    database,
    Object.fromEntries(Array.from({ length: 60 }, (_, at) => [at + 1, answered(`bird${at}`, { changedAt: at })])),
    { kind },
  );
  const { issues } = tracker.server;
  expect(await tracker.index()).toMatchObject({ version: 1, pages: 60 });
  expect(tracker.server.asked().filter((path) => /[?&]page=2/.test(path))).toHaveLength(1);

  expect(await tracker.index()).toMatchObject({ version: 1, changedPages: 0 });
  const changes = tracker.server.asked().filter((path) => /(?:since|updated_after)=2026-01/.test(path));
  expect(changes).toHaveLength(1);
  await tracker.index();
  expect(tracker.server.requests.map(({ status }) => status)).toContain(304);
  tracker.server.asked();

  issues.set(7, answered('crane', { changedAt: 100, comments: [{ body: 'It flies.' }] }));
  issues.set(8, answered('bird7', { changedAt: 101, isClosed: false }));
  issues.delete(9);
  expect(await tracker.index()).toMatchObject({ version: 2, pages: 59 });
  expect(await tracker.find('crane')).toEqual(['About the crane']);
  expect(await tracker.find('bird7')).not.toContain('About the bird7');
  expect(tracker.server.asked().filter((path) => /(?:comments|notes)/.test(path))).toHaveLength(1);
  // no list of changes has what was deleted
  expect(await tracker.find('bird8')).toContain('About the bird8');
  await tracker.relist();
  expect(await tracker.index()).toMatchObject({ pages: 58 });
  expect(await tracker.find('bird8')).not.toContain('About the bird8');
});

it('reads all issues, or those with one of some labels, by setting', slow, async () => {
  await using tracker = await startTracker(
    database,
    {
      1: answered('badger', { labels: ['faq', 'bug'] }),
      2: answered('otter', { labels: ['bug'] }),
      3: answered('walrus', { labels: ['question'], isClosed: false, comments: [] }),
    },
    { source: { labels: ['faq', 'question'] } },
  );
  expect(await tracker.index()).toMatchObject({ pages: 1 });
  await tracker.change({ labels: ['faq', 'question'], threads: 'all' });
  expect(await tracker.index()).toMatchObject({ pages: 2 });
  expect(await tracker.find('walrus')).toEqual(['About the walrus']);
  tracker.server.issues.set(1, answered('badger', { labels: ['bug'], changedAt: 5 }));
  expect(await tracker.index()).toMatchObject({ pages: 1 });
});

it.each(kinds)('reads issues of %s that are not public only for groups', slow, async (kind) => {
  await using tracker = await startTracker(
    database,
    { 1: answered('badger') },
    { kind, source: { groups: ['staff'] } },
  );
  tracker.server.isPublic = false;
  expect(await tracker.index()).toMatchObject({ pages: 1 });
  expect(await tracker.find('badger', ['staff'])).toEqual(['About the badger']);
  expect(await tracker.find('badger', [])).toEqual([]);

  // whatever the forge says meanwhile
  tracker.server.interrupt = (_request, response) => (reply(response, 500, {}), true);
  await tracker.change({ groups: ['admin'] });
  await tracker.index();
  expect(await tracker.find('badger', ['staff'])).toEqual([]);
  expect(await tracker.find('badger', ['admin'])).toEqual(['About the badger']);

  tracker.server.interrupt = null;
  await tracker.change({ groups: [] });
  expect(await tracker.index()).toMatchObject({ pages: 0 });
  expect(await tracker.find('badger', ['admin'])).toEqual([]);
  expect((await tracker.report())?.problem).toMatch(/are not public\. Name the groups/);
});

it.each([true, false])(
  'takes the pages away when a repository becomes private (beside documents: %s)',
  slow,
  async (hasDocs) => {
    await using tracker = await startTracker(database, { 1: answered('badger') }, { hasDocs });
    await tracker.index();
    expect(await tracker.find('badger')).toEqual(['About the badger']);
    tracker.server.isPublic = false;
    expect(await tracker.index()).toMatchObject({ version: 2, pages: hasDocs ? 1 : 0 });
    expect(await tracker.find('badger')).toEqual([]);
    const { rows } = await database.pool.query('select 1 from source_threads where site_id = $1', [tracker.site.id]);
    expect(rows).toEqual([]);
    tracker.server.isPublic = true;
    await tracker.index();
    expect(await tracker.find('badger')).toEqual(['About the badger']);
  },
);

it('takes the pages away also while the documents cannot be read, which stay', slow, async () => {
  await using tracker = await startTracker(database, { 1: answered('badger') }, { hasDocs: true });
  await tracker.index();
  await rm(tracker.docs!.path, { recursive: true });
  const failure = await tracker.failure();
  expect(await tracker.find('badger')).toEqual(['About the badger']);
  tracker.server.isPublic = false;
  expect(await tracker.failure()).toEqual(failure);
  expect(await tracker.find('badger')).toEqual([]);
  expect(await tracker.find('crane')).toEqual(['Start']);
});

it('leaves out what only members of GitLab see', slow, async () => {
  await using tracker = await startTracker(
    database,
    {
      1: answered('badger', {
        comments: [
          { body: 'The walrus is a secret.', isInternal: true },
          { body: 'changed the description', isSystem: true },
          { body: 'The badger digs.' },
        ],
      }),
      2: answered('lynx', { isConfidential: true }),
    },
    { kind: 'gitlab' },
  );
  expect(await tracker.index()).toMatchObject({ pages: 1 });
  expect(await tracker.read('1')).not.toMatch(/walrus|description/);
  tracker.server.issues.set(1, answered('badger', { isConfidential: true, changedAt: 9 }));
  tracker.server.issues.set(3, answered('crane', { changedAt: 9 }));
  await tracker.index();
  expect(await tracker.find('badger')).toEqual([]);
  expect(await tracker.find('crane')).toEqual(['About the crane']);
  tracker.server.areIssuesForMembers = true;
  expect(await tracker.index()).toMatchObject({ pages: 0 });
});

it('forgets the threads with their source', slow, async () => {
  await using tracker = await startTracker(database, { 1: answered('badger') }, { hasDocs: true });
  await tracker.index();
  await createSiteStore(database.pool).update(operatorOf(tracker.site), tracker.site.id, { sources: [] });
  expect(await tracker.index()).toMatchObject({ pages: 1 });
  const { rows } = await database.pool.query('select 1 from thread_sources where site_id = $1', [tracker.site.id]);
  expect(rows).toEqual([]);
});
