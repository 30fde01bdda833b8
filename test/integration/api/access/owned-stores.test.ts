import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../../../api/config.ts';
import { createApiStores, type ApiStores } from '../../../../api/stores.ts';
import type { Owner } from '../../../../db/caller.ts';
import { testPepper } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createOwner, insertForeignRows, receiver, secretIdsOf, type Owner as Scene } from './owner.ts';
import { alike, evaluationCalls, id, reads, said, site, type Asked } from './owned-calls.ts';
import { neverGiven, rowsWith } from './rows-of-owner.ts';
import { serveApi } from '../serve.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { ofFile } from '../../../support/of-file.ts';

type Method<Store extends keyof ApiStores, Name extends keyof ApiStores[Store]> = ApiStores[Store][Name];
type IsScoped<Called> = Called extends (owner: infer First, ...rest: never[]) => unknown
  ? First extends Owner
    ? true
    : false
  : false;
type Named<Scoped extends boolean> = {
  [Store in keyof ApiStores & string]: {
    [Name in keyof ApiStores[Store] & string]: IsScoped<Method<Store, Name>> extends Scoped
      ? `${Store}.${Name}`
      : never;
  }[keyof ApiStores[Store] & string];
}[keyof ApiStores & string];

/**
 * Each store method whose first argument does not identify the acting organization, and why. A new one does not compile
 * until it takes an Owner or a Caller; neither does a line whose method is gone.
 */
const unscoped: Record<Named<false>, string> = {
  'outbox.claimDue': 'the process starts the turns of all organizations',
  'outbox.remove': 'the process starts the turns of all organizations',
  'cancels.claimDue': 'the process cancels the executions of all organizations',
  'cancels.remove': 'the process cancels the executions of all organizations',
  'lists.nowMicros': 'the time of the database',
  'figures.read': 'the metrics of the service',
  'figures.addUp': 'the metrics of the service',
  'rateLimits.take': 'counters have names, not rows of an organization',
  'rateLimits.sweep': 'the process removes what has ended',
  'usage.count': 'the process writes down which keys were used',
  'usage.sweep': 'the process removes what has ended',
  'replies.create': 'the reply that a request has begun',
  'replies.append': 'the reply that a request has begun',
  'replies.heartbeat': 'the reply that a request has begun',
  'replies.end': 'the reply that a request has begun',
  'replies.markDelivered': 'the reply that findResumable or the request itself has named',
  'replies.read': 'the reply that findResumable or the request itself has named',
};

const limit = 50;
const idempotency = null;
const step = (asked: Asked) => ({ jobId: id(asked, 'job'), turn: 1, step: 1 });
const webhook = (asked: Asked) => ({ projectId: id(asked, 'agent'), id: id(asked, 'webhooks') });
const gap = (asked: Asked) => ({ siteId: id(asked, 'site'), id: id(asked, 'gaps'), label: 'x', questions: [] });
const newJobId = () => `job_new${Math.random()}`;
const newJob = {
  prompt: 'x',
  repository: 'https://github.com/acme/docs',
  requestedRef: null,
  model: 'x',
  draft: false,
};

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** How to call each other method with ids; a missing entry does not compile. */
const calls: Record<Named<true>, (asked: Asked) => unknown> = {
  'sites.readerKey': (a) => a.stores.sites.readerKey(site(a)),
  'jobs.create': (a) =>
    a.stores.jobs.create(a.as, { ...newJob, id: newJobId(), projectId: id(a, 'agent'), idempotency }),
  'jobs.find': (a) => a.stores.jobs.find(a.as, id(a, 'agent'), id(a, 'job')),
  'jobs.findEarlier': (a) => a.stores.jobs.findEarlier(a.as, id(a, 'agent'), { key: 'known', requestHash: 'h' }),
  'jobs.list': (a) => a.stores.jobs.list(a.as, id(a, 'agent'), { limit }),
  'jobCounts.count': (a) => a.stores.jobCounts.count(a.as, { projectId: id(a, 'agent') }),
  'lists.list': (a) => a.stores.lists.list(a.as, { statuses: [], search: id(a, 'job'), limit }),
  'lists.listChanged': (a) => a.stores.lists.listChanged(a.as, { after: { updatedMicros: '0', id: '' }, limit }),
  'histories.find': (a) => a.stores.histories.find(a.as, step(a)),
  'histories.read': (a) => a.stores.histories.read(a.as, { ...step(a), run: 1 }),
  'bundles.read': (a) => all(a.stores.bundles.read(a.as, id(a, 'job'))),
  'bundles.readPrompt': (a) => all(a.stores.bundles.readPrompt(a.as, id(a, 'job'), { turn: 1, step: 1 })),
  'images.content': (a) => a.stores.images.content(a.as, id(a, 'job'), id(a, 'images')),
  'timeline.turns': (a) => a.stores.timeline.turns(a.as, id(a, 'job'), { after: 0, limit }),
  'timeline.steps': (a) => a.stores.timeline.steps(a.as, id(a, 'job'), { after: { turn: 0, step: 0 }, limit }),
  'timeline.step': (a) => a.stores.timeline.step(a.as, step(a)),
  'timeline.patchAt': (a) => a.stores.timeline.patchAt(a.as, step(a)),
  'timeline.latestPatch': (a) => a.stores.timeline.latestPatch(a.as, id(a, 'job')),
  'timeline.changeOf': (a) => a.stores.timeline.changeOf(a.as, step(a)),
  'forks.fork': (a) =>
    a.stores.forks.fork(a.as, { id: 'job_fork', from: step(a), models: null, prompt: 'x', idempotency }),
  'messages.send': (a) => a.stores.messages.send(a.as, { jobId: id(a, 'job'), prompt: 'x', idempotency }),
  'plans.approve': (a) => a.stores.plans.approve(a.as, { jobId: id(a, 'job'), text: null }),
  'plans.reject': (a) => a.stores.plans.reject(a.as, { jobId: id(a, 'job'), text: null }),
  'endings.cancel': (a) => a.stores.endings.cancel(a.as, id(a, 'job')),
  'endings.archive': (a) => a.stores.endings.archive(a.as, id(a, 'job')),
  'endings.unarchive': (a) => a.stores.endings.unarchive(a.as, id(a, 'job')),
  'erasure.job': (a) => a.stores.erasure.job(a.as, id(a, 'job')),
  'erasure.project': (a) => a.stores.erasure.project(a.as, id(a, 'agent')),
  'erasure.organization': async (a) => {
    await a.stores.erasure.organization(a.as);
  },
  'events.read': (a) => a.stores.events.read(a.as, id(a, 'job'), { after: 0, limit }),
  'organizations.get': (a) => a.stores.organizations.get(a.as),
  'projects.create': (a) =>
    a.stores.projects.create(a.as, {
      name: 'x',
      repository: newJob.repository,
      defaultRef: null,
      model: null,
      forge: 'github',
      allowedRepositories: [],
    }),
  'projects.get': (a) => a.stores.projects.get(a.as, id(a, 'agent')),
  'projects.list': (a) => a.stores.projects.list(a.as, { limit }),
  'projects.names': (a) => a.stores.projects.names(a.as),
  'projects.findOn': (a) => a.stores.projects.findOn(a.as, newJob.repository),
  'projects.update': (a) => a.stores.projects.update(a.as, id(a, 'agent'), { name: 'taken', forgeToken: 'taken' }),
  'guidance.get': (a) => a.stores.guidance.get(a.as, id(a, 'agent')),
  'repositoryNames.get': (a) => a.stores.repositoryNames.get(a.as, id(a, 'agent')),
  'guidance.change': (a) => a.stores.guidance.change(a.as, id(a, 'agent'), { instructions: 'taken' }),
  'setupSecrets.list': (a) => a.stores.setupSecrets.list(a.as, id(a, 'agent')),
  'setupSecrets.set': (a) => a.stores.setupSecrets.set(a.as, id(a, 'agent'), { name: 'TAKEN', value: 'taken-value' }),
  'setupSecrets.remove': (a) => a.stores.setupSecrets.remove(a.as, id(a, 'agent'), 'TAKEN'),
  'tools.servers': (a) => a.stores.tools.servers(a.as, id(a, 'agent')),
  'tools.replaceServers': (a) => a.stores.tools.replaceServers(a.as, id(a, 'agent'), []),
  'pullRequestLists.count': (a) => a.stores.pullRequestLists.count(a.as),
  'pullRequestLists.list': (a) => a.stores.pullRequestLists.list(a.as, { limit: 9 }),
  'pullRequestLists.ofJob': (a) => a.stores.pullRequestLists.ofJob(a.as, id(a, 'job')),
  'pullRequests.find': (a) => a.stores.pullRequests.find(a.as, id(a, 'pull-requests')),
  'pullRequests.patch': (a) => a.stores.pullRequests.patch(a.as, id(a, 'pull-requests')),
  'pullRequests.requestMerge': (a) =>
    a.stores.pullRequests.requestMerge(a.as, id(a, 'pull-requests'), {
      method: 'merge',
      deletesBranch: false,
      headCommit: null,
    }),
  'pullRequests.requestCheck': (a) => a.stores.pullRequests.requestCheck(a.as, id(a, 'pull-requests')),
  'pullRequests.close': (a) => a.stores.pullRequests.close(a.as, id(a, 'pull-requests')),
  'pullRequests.markReady': (a) => a.stores.pullRequests.markReady(a.as, id(a, 'pull-requests')),
  'keys.create': (a) => a.stores.keys.create(a.as, { kind: 'assistant' }).then(({ row }) => row.organizationId),
  'keys.list': (a) => a.stores.keys.list(a.as, { limit }),
  'keys.update': (a) => a.stores.keys.update(a.as, id(a, 'keys'), { allowedOrigins: ['https://taken.example'] }),
  'keys.captchaSecret': (a) => a.stores.keys.captchaSecret(a.as, id(a, 'keys')),
  'keys.revoke': (a) => a.stores.keys.revoke(a.as, id(a, 'keys')),
  'sessions.open': (a) => a.stores.sessions.open({ ...a.as, keyId: id(a, 'keys') }),
  'sessions.createLink': async (a) => {
    await a.stores.sessions.createLink(a.as, { keyId: id(a, 'keys') });
  },
  'sessions.revoke': (a) => a.stores.sessions.revoke(a.as),
  'sessions.revokeAll': (a) => a.stores.sessions.revokeAll(a.as),
  'audit.list': (a) => a.stores.audit.list(a.as, { limit }),
  'sites.create': (a) => a.stores.sites.create(a.as, { domain: `new-${Math.random()}`, directory: '/docs' }),
  'sites.findByDomain': (a) => a.stores.sites.findByDomain(a.as, id(a, 'sites')),
  'sites.list': (a) => a.stores.sites.list(a.as, { limit }),
  'sites.domains': (a) => a.stores.sites.domains(a.as),
  'sites.update': (a) => a.stores.sites.update(a.as, id(a, 'site'), { path: 'taken' }),
  'sites.remove': (a) => a.stores.sites.remove(a.as, id(a, 'site')),
  'sites.requestIndex': (a) => a.stores.sites.requestIndex(a.as, id(a, 'site')),
  'indexes.current': (a) => a.stores.indexes.current(site(a)),
  'indexes.publish': (a) =>
    a.stores.indexes.publish(site(a), {
      format: 1,
      sourceHash: 'x',
      pages: 0,
      chunks: 0,
      file: join(a.directory, 'in'),
    }),
  'indexes.confirm': (a) => a.stores.indexes.confirm(site(a)),
  'indexes.download': (a) => a.stores.indexes.download(site(a), 1, { file: join(a.directory, 'out') }),
  'threads.resolve': (a) => a.stores.threads.resolve(site(a), id(a, 'thread')),
  'threads.open': (a) => a.stores.threads.open(site(a), { threadId: 'thr_new', fp: 'x' }),
  'threads.recordTurn': (a) =>
    a.stores.threads.recordTurn(site(a), {
      threadId: id(a, 'thread'),
      question: { id: 'msg_q', content: 'x', currentPath: null, searchQuery: null },
      answer: {
        id: 'msg_a',
        content: 'x',
        sources: [],
        model: 'x',
        answered: true,
        ending: 'finished',
        firstTokenMs: null,
        durationMs: 1,
        costMicros: 0,
        location: { topic: null, version: null, language: null },
      },
    }),
  'threads.get': (a) => a.stores.threads.get(site(a), id(a, 'thread')),
  'threads.remove': (a) => a.stores.threads.remove(a.as, id(a, 'site'), id(a, 'thread')),
  'answerSpending.reserve': (a) =>
    a.stores.answerSpending.reserve(site(a), {
      maxMicros: 1,
      lostMicros: 1,
      siteMicros: null,
      organizationMicros: null,
    }),
  'answerSpending.settle': (a) =>
    a.stores.answerSpending.settle(site(a), { id: '1', day: '2026-01-01', lostMicros: 0 }, 1),
  'analytics.read': (a) => a.stores.analytics.read(site(a), { days: 30, bucketSeconds: 86_400 }),
  ...evaluationCalls,
  'conversations.list': (a) => a.stores.conversations.list(site(a), { limit }),
  'conversations.rate': (a) =>
    a.stores.conversations.rate(site(a), {
      threadId: id(a, 'thread'),
      messageId: id(a, 'answer'),
      feedback: { vote: 'down', reasons: [], comment: null },
    }),
  'conversations.listUnanswered': (a) => a.stores.conversations.listUnanswered(site(a), limit),
  'emptySearches.count': (a) => a.stores.emptySearches.count(site(a), 'x'),
  'emptySearches.list': (a) => a.stores.emptySearches.list(site(a), { days: 1, limit }),
  'gaps.list': (a) => a.stores.gaps.list(site(a), limit),
  'gaps.find': (a) => a.stores.gaps.find(site(a), id(a, 'gaps')),
  'gaps.begin': (a) =>
    a.stores.gaps.begin(a.as, gap(a), {
      number: 1,
      job: { ...newJob, id: newJobId(), projectId: id(a, 'agent'), idempotency },
    }),
  'gaps.recheck': (a) => a.stores.gaps.recheck(a.as, gap(a)),
  'gaps.dismiss': (a) => a.stores.gaps.dismiss(a.as, gap(a)),
  'gaps.restore': (a) => a.stores.gaps.restore(a.as, gap(a)),
  'grants.resources': (a) => a.stores.grants.resources(a.as),
  'replies.findResumable': (a) =>
    a.stores.replies.findResumable(site(a), { chatId: 'chat-1', keyId: id(a, 'keys'), resumeToken: 'x' }),
  'webhooks.create': (a) =>
    a.stores.webhooks.create(a.as, id(a, 'agent'), { url: receiver, description: null, eventTypes: [] }),
  'webhooks.list': (a) => a.stores.webhooks.list(a.as, id(a, 'agent')),
  'webhooks.find': (a) => a.stores.webhooks.find(a.as, webhook(a)),
  'webhooks.update': (a) => a.stores.webhooks.update(a.as, { ...webhook(a), format: 'standard' }, { enabled: false }),
  'webhooks.remove': (a) => a.stores.webhooks.remove(a.as, webhook(a)),
  'webhooks.rotateSecret': (a) => a.stores.webhooks.rotateSecret(a.as, webhook(a), { overlapMs: 1 }),
  'webhooks.ping': (a) => a.stores.webhooks.ping(a.as, webhook(a)),
  'deliveries.list': (a) => a.stores.deliveries.list(a.as, webhook(a), { limit }),
  'deliveries.find': (a) => a.stores.deliveries.find(a.as, webhook(a), id(a, 'deliveries')),
  'deliveries.redeliver': (a) => a.stores.deliveries.redeliver(a.as, webhook(a), id(a, 'deliveries')),
  'operations.read': (a) => a.stores.operations.read(a.as, { hours: 1, bucketSeconds: 3_600 }),
  'usage.read': (a) => a.stores.usage.read(a.as, { days: 1 }),
  'operatorView.isOpenTo': (a) => a.stores.operatorView.isOpenTo(a.as),
  'operatorView.workers': (a) => a.stores.operatorView.workers(a.as, { withinMinutes: 1 }),
};

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host }));
let directory: string;
let ours: Scene;
let theirs: Scene;

beforeAll(async () => {
  directory = temporaryDirectory();
  await writeFile(join(directory, 'in'), 'an index');
  ours = await createOwner(database.pool, api);
  theirs = await createOwner(database.pool, api);
});

it('finds and changes nothing of another organization, in any query of the API', async () => {
  expect(Object.values(unscoped)).not.toContain('');
  const { pool } = database;
  const config = readConfig({ DATABASE_URL: 'postgres://unused', DOCKET_KEY_PEPPER: testPepper });
  const stores = createApiStores({ pool, config });
  const as = { organizationId: theirs.organizationId, keyId: theirs.ids['keys']!, sessionId: 'ses_x', person: null };
  const secretIds = secretIdsOf(ours);
  const missing = Object.fromEntries(Object.entries(ours.ids).map(([kind, known]) => [kind, neverGiven(known)]));
  await insertForeignRows(pool, ours);
  const isLast = (name: string) => Number(name === 'erasure.organization');
  const found: string[] = [];
  // a call that returns nothing to its owner either proves nothing
  const owner = { ...as, organizationId: ours.organizationId, keyId: ours.ids['keys']! };
  const silent: string[] = [];
  for (const [name, call] of Object.entries(calls).filter(([name]) => reads.test(name))) {
    const { text: none } = await said(call, { stores, directory, as, ids: missing });
    const { text: own } = await said(call, { stores, directory, as: owner, ids: ours.ids });
    if (own === none) silent.push(name);
  }
  expect(silent.toSorted()).toEqual(alike);
  const before = await rowsWith(pool, secretIds);
  for (const [name, call] of Object.entries(calls).toSorted(([a], [b]) => isLast(a) - isLast(b))) {
    const asked = { stores, as, directory };
    const { text: none } = await said(call, { ...asked, ids: missing });
    const { text: foreign, answer } = await said(call, { ...asked, ids: ours.ids });
    if (foreign !== none) found.push(`${name} answers ${foreign.slice(0, 200)} and not ${none.slice(0, 200)}`);
    if (secretIds.some((known) => answer.includes(known))) found.push(`${name} names what is not theirs`);
    const after = await rowsWith(pool, secretIds);
    if (JSON.stringify(after) !== JSON.stringify(before)) found.push(`${name} changes what is not theirs`);
  }
  expect(found).toEqual([]);
});
