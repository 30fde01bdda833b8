import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { secretPartOf } from '../../../lib/redaction/private-key.ts';
import { createSiteStore } from '../../../db/sites/sites.ts';
import { untilSuccess } from '../../../local/processes/until-success.ts';
import { startLane, type Lane } from '../chaos/lane.ts';
import { startServers, type ChaosServers } from '../chaos/servers/servers.ts';
import { startReceiver, type Receiver } from '../../integration/webhooks/receiver.ts';
import { operatorOf } from '../../../db/caller.ts';
import { buildKey, buildProject } from '../../support/database/build.ts';
import { testKeys, testKeysText } from '../../support/database/encryption.ts';
import { createFakeGithub, type FakeGithub } from '../../support/forges/fake-github.ts';
import { scriptCommand } from '../../support/servers/mcp-command.ts';
import { startMcpServer, textResult } from '../../support/servers/mcp-server.ts';
import type { TestRepository } from '../../support/git-repository.ts';
import { machineArchive, packMachineImage } from '../../support/sandbox/machine-image.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startSshServer, type SshServer } from '../../support/ssh/ssh-server.ts';
import { secretiveModel } from './model.ts';
import { sshKeys } from './keys.ts';
import { configured, type Canaries } from './canaries.ts';

/** The live service with a forge, a model, a receiver of webhooks and a site, all of which say secrets. */
export interface LeaksStage extends AsyncDisposable {
  servers: ChaosServers;
  lane: Lane;
  github: FakeGithub;
  model: ScriptedModelServer;
  receiver: Receiver;
  /** Has the repositories of projects that are reached by ssh. */
  ssh: SshServer;
  /** Environment of the command line besides the database. */
  repositories: TestRepository[];
  /** Folder of the processes for temporary files. */
  temporary: string;
  assistantKey: string;
  domain: string;
  /** Image of the commands of the project `locked`; null where none can be built. */
  image: string | null;
  /** Of a repository that takes pushes, of one whose hook refuses them, and one whose setup fails. */
  projects: { open: string; locked: string; broken: string };
  /** Gives a project MCP servers and a setup, which say secrets. */
  equip(project: string): Promise<void>;
  /** Sends JSON, or gets; the status does not matter. */
  ask(path: string, options?: AskOptions): Promise<{ status: number; text: string }>;
}

export interface AskOptions {
  key?: string;
  json?: unknown;
  /** Instead of JSON. */
  body?: string;
  method?: string;
  headers?: Record<string, string>;
}

export const repositoryNames = {
  open: 'acme/docs',
  locked: 'acme/locked',
  ssh: 'acme/ssh',
  sshLocked: 'acme/ssh-locked',
};
/** Reply of each MCP server, by which the run sees that the server was called. */
export const servedBy = { docs: 'The shelf of the docs.', desk: 'The drawer of the desk.' };
/** Command of a server that says its secret: to its standard error, in a file of its HOME, and when it is called. */
const tellingCommand = [
  'sh',
  '-c',
  'echo "The token is $DESK_TOKEN" | tee ~/token >&2; exec "$0" "$@"',
  ...scriptCommand(
    `echo '${servedBy.desk}'; echo "$DESK_TOKEN"; echo "$DESK_TOKEN" | rev; printf %s "$DESK_TOKEN" | base64; env`,
  ),
];
/** Printed by each setup, by which the run sees that one has run. */
export const setupRan = 'The setup of the canaries has run.';
/** Returns an environment whose setup prints its secret in several forms and ends with an exit code. */
const tellingSetup = (exitCode: number, image: string | null) =>
  JSON.stringify({
    ...(image !== null && { image }),
    setup: [
      `echo '${setupRan}'`,
      'echo "The token is $SETUP_TOKEN" >&2',
      'echo "$SETUP_TOKEN" | rev; printf %s "$SETUP_TOKEN" | base64; env',
      `exit ${exitCode}`,
    ].join('\n'),
  });
export const encryptionKeys = testKeys('k1');

export async function startLeaksStage(canaries: Canaries, jobs: number): Promise<LeaksStage> {
  await using started = new AsyncDisposableStack();
  const receiver = started.use(await startReceiver());
  const model = started.use(await startScriptedModelServer());
  model.respondWith(secretiveModel(canaries));
  const toolServer = started.use(
    await startMcpServer([
      {
        name: 'look',
        description: `Looks. ${configured.serverToken}`,
        annotations: { readOnlyHint: true },
        call: () => textResult(`${servedBy.docs} ${canaries.some(6)}`),
      },
      {
        name: 'fail',
        call: () => {
          throw new Error(canaries.some(4));
        },
      },
    ]),
  );
  const github = started.use(await createFakeGithub({ token: configured.githubToken }));
  github.tokens.add(configured.projectToken);
  const ssh = started.use(await startSshServer({ authorizedKeys: [sshKeys.ed25519, sshKeys.rsa] }));
  const servers = started.use(await startServers());
  const archives = join(servers.home, 'archives');
  await mkdir(archives);
  const image = (await packMachineImage(archives)) ? `oci-archive:${machineArchive}` : null;
  const lane = started.use(
    await startLane({
      servers,
      name: 'leaks',
      entries: { worker: 'test/suites/chaos/processes/http-git-worker.ts' },
      env: {
        OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
        OPENAI_COMPATIBLE_API_KEY: configured.modelKey,
        GITHUB_TOKEN: configured.githubToken,
        GITLAB_TOKEN: configured.gitlabToken,
        GITHUB_API_URL: github.apiUrl,
        DOCKET_PRIVATE_HOSTS: toolServer.host,
        DOCKET_AGENT_MODEL: 'compatible/scripted',
        DOCKET_ASSISTANT_MODEL: 'offline/extract',
        ...(image !== null && { DOCKET_IMAGES: image, DOCKET_IMAGE_DIRECTORY: archives }),
        DOCKET_ENCRYPTION_KEYS: testKeysText('k1'),
        DOCKET_ALLOWED_HOSTS: `github.com,${ssh.host}:${ssh.port}`,
        DOCKET_WEBHOOK_ALLOWED_HOSTS: receiver.host,
        LOG_LEVEL: 'trace',
      },
    }),
  );
  const { pool, organizationId, baseUrl, adminKey } = lane;

  const pages = Array.from({ length: jobs }, (_, job): [string, string] => [
    `docs/page-${job}.md`,
    `# Page ${job}\n\n${canaries.some(8)}`,
  ]);
  const names = Array.from({ length: jobs }, (): [string, string] => [`docs/${canaries.plain()}.md`, '# Odd name\n']);
  const files = Object.fromEntries([
    ...pages,
    ...names,
    ['AGENTS.md', `Write plainly. ${canaries.some(4)}`],
    ['.github/pull_request_template.md', `Checklist ${canaries.some(4)}`],
  ]);
  const open = await github.addRepository(repositoryNames.open, files);
  const locked = await github.addRepository(repositoryNames.locked, files);
  const bySsh = await github.addRepository('acme/ssh', files);
  const lockedBySsh = await github.addRepository('acme/ssh-locked', files);
  for (const { path } of [locked, lockedBySsh]) {
    const hook = join(path, 'hooks', 'pre-receive');
    await mkdir(dirname(hook), { recursive: true });
    await writeFile(hook, `#!/bin/sh\ncat >&2 <<'END'\nrefused because of\n${canaries.some(15)}END\nexit 1\n`);
    await chmod(hook, 0o755);
  }
  const silent = await github.addRepository('acme/silent', { 'README.md': '# Says nothing\n' });
  ssh.add('acme/ssh', bySsh.path);
  ssh.add('acme/silent', silent.path);
  ssh.add('acme/ssh-locked', lockedBySsh.path);

  const addProject = async (name: string, repository: string) =>
    (await buildProject(pool, { organizationId, name, repository, forge: 'github' })).id;
  const ids = {
    open: await addProject('Open', open.url),
    locked: await addProject('Locked', locked.url),
    broken: await addProject('Broken', silent.url),
  };

  async function ask(path: string, { key = adminKey, json, body, method, headers }: AskOptions = {}) {
    const response = await fetch(baseUrl + path, {
      method: method ?? (json === undefined ? 'GET' : 'POST'),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: body ?? (json === undefined ? undefined : JSON.stringify(json)),
    });
    return { status: response.status, text: await response.text() };
  }

  const headers = [{ name: 'Authorization', value: `Bearer ${configured.serverToken}` }];
  const env = [{ name: 'DESK_TOKEN', value: configured.commandToken }];
  const commands = [
    { name: 'desk', command: tellingCommand, env },
    { name: 'broken', command: ['sh', '-c', 'echo "No access with $DESK_TOKEN" >&2; exit 1'], env },
  ];
  const labels = ['docs'];
  const secrets = {
    SETUP_TOKEN: configured.setupToken,
    KEY_ED25519: secretPartOf(sshKeys.ed25519),
    KEY_RSA: secretPartOf(sshKeys.rsa),
  };
  /**
   * Every project has all secrets that are leaked, because one project's secrets are unknown in the work for another.
   */
  async function equip(project: string): Promise<void> {
    const environment = tellingSetup(project === ids.broken ? 1 : 0, project === ids.locked ? image : null);
    const changes = [
      ...Object.entries(secrets).map(([name, value]) =>
        ask(`/v1/projects/${project}/secrets`, { json: { name, value } }),
      ),
      ask(`/v1/projects/${project}`, {
        method: 'PATCH',
        json: { environment, forgeToken: configured.projectToken, labels },
      }),
      ask(`/v1/projects/${project}/mcp-servers`, {
        method: 'PATCH',
        json: { servers: [{ name: 'docs', url: toolServer.url, headers }, ...commands] },
      }),
    ];
    for (const { status, text } of await Promise.all(changes))
      if (status !== 200) throw new Error(`The project was not changed: ${text}`);
  }
  for (const project of Object.values(ids)) await equip(project);

  for (const status of [500, 200, 500, 200, 200, 200])
    receiver.answers.push((response) => void response.writeHead(status).end(canaries.some(6)));
  for (const project of Object.values(ids)) {
    const url = `${receiver.url}/${canaries.plain()}?token=${canaries.plain()}`;
    await ask(`/v2/agent/${project}/webhooks`, { json: { url, description: 'A receiver' } });
  }

  const domain = 'canary-docs';
  const sites = createSiteStore(pool);
  const operator = operatorOf({ organizationId });
  await sites.create(operator, { domain, repository: open.url, path: 'docs' });
  const path = `docs/${canaries.plain()}`;
  await sites.create(operator, { domain: 'broken-docs', repository: open.url, path });
  const assistantKey = (await buildKey(pool, { organizationId, kind: 'assistant' })).key;
  await untilSuccess(async () => {
    const { status } = await ask(`/discovery/v1/search/${domain}`, { key: assistantKey, json: { query: 'page' } });
    if (status !== 200) throw new Error(`The search answers ${status}.`);
  }, AbortSignal.timeout(120_000));

  const running = started.move();
  return {
    servers,
    lane,
    github,
    model,
    receiver,
    ssh,
    repositories: [open, locked, bySsh, lockedBySsh],
    temporary: servers.temporary,
    image,
    assistantKey,
    domain,
    projects: ids,
    equip,
    ask,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
