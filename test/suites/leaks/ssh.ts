import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDocket } from '../../support/stack/docket-process.ts';
import type { Trace } from '../../support/canary-secrets.ts';
import { refusedKeys, sshKeys } from './keys.ts';
import type { LeaksStage } from './stage.ts';

/** How a project on a repository that is reached by ssh gets its key, and what becomes of its jobs. */
const cases = [
  { key: 'ed25519', by: 'api', end: 'completed' },
  { key: 'rsa', by: 'file', end: 'completed' },
  { key: 'ed25519', by: 'stdin', end: 'push_rejected' },
  { key: 'stranger', by: 'api', end: 'authentication_refused' },
  { key: 'strangerRsa', by: 'stdin', end: 'authentication_refused' },
  { key: 'damaged', by: 'file', end: 'authentication_refused' },
  { key: 'damagedRsa', by: 'api', end: 'authentication_refused' },
] as const;

export interface SshProject {
  id: string;
  end: string;
}

/** Makes projects with keys through the API and the command line, whose answers are kept, and tries to make others. */
export async function addSshProjects(stage: LeaksStage, answers: Trace[]): Promise<SshProject[]> {
  const { ask, ssh, lane } = stage;
  const folder = await mkdtemp(join(tmpdir(), 'docket-leaks-'));
  const silent = ssh.url('acme/silent');
  const docket = async (args: string[], input = '') => {
    const { out, error, code } = await runDocket(
      args,
      { DOCKET_URL: lane.baseUrl, DOCKET_API_KEY: lane.adminKey },
      input,
    );
    answers.push({ place: 'answer: command line', text: `${out}\n${error}` });
    return { out, error, code };
  };
  async function fileOf(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }

  try {
    const hosts = await fileOf('hosts', `${ssh.hostKey}\n`);
    const createBy = {
      async api(repository: string, sshKey: string): Promise<string> {
        const json = {
          repository,
          forge: 'github',
          sshKnownHosts: [ssh.hostKey],
          sshKey,
          allowedRepositories: [silent],
        };
        const { status, text } = await ask('/v1/projects', { json });
        answers.push({ place: 'answer: project', text });
        if (status !== 201) throw new Error(`The project was not made: ${text}`);
        return JSON.parse(text).id;
      },
      file: async (repository: string, key: string) => create(repository, ['--ssh-key', await fileOf('key', key)], ''),
      stdin: (repository: string, key: string) => create(repository, ['--ssh-key-stdin'], key),
    };
    const basic = (repository: string) =>
      `project create --repository ${repository} --allow ${silent} --forge github --ssh-known-hosts ${hosts} --json`.split(
        ' ',
      );
    const create = async (repository: string, options: string[], input: string): Promise<string> => {
      const { out, error, code } = await docket([...basic(repository), ...options], input);
      if (code !== 0) throw new Error(`The project was not made: ${error}`);
      return JSON.parse(out).id;
    };

    const projects: SshProject[] = [];
    for (const { key, by, end } of cases) {
      const name = end === 'push_rejected' ? 'acme/ssh-locked' : 'acme/ssh';
      projects.push({ id: await createBy[by](ssh.url(name), sshKeys[key]), end });
    }

    const [{ id = '' } = {}] = projects;
    for (const key of Object.values({ ...refusedKeys, ...sshKeys })) {
      const isRefused = Object.values<string>(refusedKeys).includes(key);
      const bodies: { json?: unknown; body?: string }[] = [
        ...(isRefused ? [{ json: { sshKey: key } }] : []),
        { json: { sshKnownHosts: [key] } },
        { json: { forgeUrl: key, defaultRef: key, [key]: key } },
        { json: { sshKey: { privateKey: key } } },
        { body: `{"sshKey": ${key}` },
      ];
      for (const body of bodies) {
        const { status, text } = await ask(`/v1/projects/${id}`, { method: 'PATCH', ...body });
        answers.push({ place: `answer: ${status}`, text });
        if (status !== 400) throw new Error(`A project took what is no setting: ${text}`);
      }
      const asked = await ask(`/v1/projects?sshKey=${encodeURIComponent(key)}`, {
        key: key.replaceAll(/-----[^-]*-----|\n/g, ''),
      });
      answers.push({ place: `answer: ${asked.status}`, text: asked.text });
      if (!isRefused) continue;
      await docket([...basic(ssh.url('acme/ssh')), '--ssh-key-stdin'], key);
      await docket([...basic(ssh.url('acme/ssh')), '--ssh-key', await fileOf('key', key)]);
    }
    for (const path of ['/v1/projects', `/v1/projects/${id}`])
      answers.push({ place: 'answer: project', text: (await ask(path)).text });
    await docket(['project', 'list', '--json']);
    return projects;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
