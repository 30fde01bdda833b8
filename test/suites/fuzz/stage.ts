import { createKeyText } from '../../../db/organizations/key-format.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createKeyStore } from '../../../db/organizations/keys.ts';
import { createSiteStore } from '../../../db/sites/sites.ts';
import { untilSuccess } from '../../../local/processes/until-success.ts';
import { startLane, type Lane } from '../chaos/lane.ts';
import { setScene, type Scene } from '../chaos/scene.ts';
import { startServers, type ChaosServers } from '../chaos/servers/servers.ts';
import { startReceiver, type Receiver } from '../../integration/webhooks/receiver.ts';
import { buildKey, buildProject, testPepper } from '../../support/database/build.ts';
import { shapelessSecret } from '../../support/canary-secrets.ts';
import { createKnownIds } from './known-ids.ts';
import type { FuzzTargets } from './requests.ts';

/**
 * The live service with two organizations: one sends the requests, and the other's data must never appear in a
 * response.
 */
export interface FuzzStage extends AsyncDisposable {
  servers: ChaosServers;
  lane: Lane;
  scene: Scene;
  receiver: Receiver;
  targets: FuzzTargets;
  /** Replaces a session that was signed out. */
  signIn(): Promise<void>;
}

/** A marker in all data of the other organization. */
export const foreignWord = 'othersSecretPlan4711';
/** Keys of the processes; no answer and no sink may hold one. */
const modelKey = shapelessSecret(1_000_001);
const githubToken = shapelessSecret(1_000_002);
const site = (word: string) =>
  new Map([
    ['README.md', '# Notes\n'],
    ['docs/index.md', `# Widget\n\nThe widget retries requests. ${word}\n`],
    ['docs/guides/install.md', `# Install\n\nRun \`npm install widget\`; set \`retryLimit\` for retries. ${word}\n`],
  ]);

export async function startFuzzStage(): Promise<FuzzStage> {
  await using started = new AsyncDisposableStack();
  const receiver = started.use(await startReceiver());
  const servers = started.use(await startServers());
  const lane = started.use(
    await startLane({
      servers,
      name: 'fuzz',
      env: {
        OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
        DOCKET_SELF_REVIEW: 'off',
        OPENAI_COMPATIBLE_API_KEY: modelKey,
        GITHUB_TOKEN: githubToken,
        DOCKET_TRUSTED_PROXIES: '1',
        DOCKET_JOBS_PER_HOUR: '200',
        DOCKET_ASSISTANT_PER_HOUR: '10000000',
        DOCKET_ASSISTANT_PER_IP_PER_DAY: '10000000',
        DOCKET_WEBHOOK_ALLOWED_HOSTS: receiver.host,
      },
    }),
  );
  const { pool, baseUrl } = lane;
  const scene = started.use(await setScene(lane, [site('Words of our own.'), site(foreignWord)]));
  const [own, others] = scene.repositories;
  if (own === undefined || others === undefined) throw new Error('The repositories were not made.');

  const sites = createSiteStore(pool);
  const addSite = async (organizationId: string, domain: string, repository: string) => {
    await sites.create(operatorOf({ organizationId }), { domain, repository, path: 'docs' });
  };
  await addSite(lane.organizationId, 'own-docs', own.repository.path);
  const second = await buildProject(pool, {
    organizationId: lane.organizationId,
    repository: own.repository.path,
    forge: 'local',
  });
  const foreignProject = await buildProject(pool, { repository: others.repository.path, forge: 'local' });
  const { organizationId } = foreignProject;
  await addSite(organizationId, 'others-docs', others.repository.path);

  const keyOf = async (organization: string, kind: 'admin' | 'assistant') =>
    (await buildKey(pool, { organizationId: organization, kind })).key;
  const expired = await buildKey(pool, { organizationId: lane.organizationId, expiresInDays: -1 });
  const revoked = await buildKey(pool, { organizationId: lane.organizationId });
  await createKeyStore(pool, testPepper).revoke(operatorOf(lane), revoked.row.id);
  const keys = { admin: lane.adminKey, assistant: await keyOf(lane.organizationId, 'assistant') };
  const foreignKeys = {
    admin: await keyOf(organizationId, 'admin'),
    assistant: await keyOf(organizationId, 'assistant'),
  };

  const ask = async (key: string, path: string, json: unknown) => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text}`);
    return { headers: response.headers, text };
  };
  const untilIndexed = async (key: string, domain: string) =>
    untilSuccess(() => ask(key, `/discovery/v1/search/${domain}`, { query: 'widget' }), AbortSignal.timeout(120_000));
  await untilIndexed(keys.assistant, 'own-docs');
  await untilIndexed(foreignKeys.assistant, 'others-docs');

  const atForeign = `/v2/agent/${foreignProject.id}`;
  const job = await ask(foreignKeys.admin, `${atForeign}/job`, {
    prompt: `Create PLAN.md with "${foreignWord}"`,
    model: 'offline/editor',
  });
  const hook = { url: receiver.url, description: foreignWord };
  const webhook = await ask(foreignKeys.admin, `${atForeign}/webhooks`, hook);
  const question = { fp: 'x', messages: [{ role: 'user', content: `What of ${foreignWord}?` }] };
  const reply = await ask(foreignKeys.assistant, '/discovery/v2/assistant/others-docs/message', question);

  const targets: FuzzTargets = {
    keys,
    cookie: '',
    repository: own.repository.path,
    deadKeys: [expired.key, revoked.key, createKeyText('admin').key, createKeyText('assistant').key],
    webhookUrl: receiver.url,
    domain: 'own-docs',
    projectIds: [own.projectId, second.id],
    foreign: {
      projectId: foreignProject.id,
      jobId: JSON.parse(job.text).id,
      domain: 'others-docs',
      webhookId: JSON.parse(webhook.text).id,
      threadId: reply.headers.get('x-thread-id') ?? '',
    },
    known: createKnownIds(),
  };
  const signIn = async () => {
    const { headers } = await ask(keys.admin, '/v1/session', { key: keys.admin });
    targets.cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  };
  await signIn();
  const running = started.move();
  return { servers, lane, scene, receiver, targets, signIn, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
