import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Images } from '../../../activities/images/images.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startCommandScene } from '../../support/sandbox/command-scene.ts';
import { openPackageImages, packageImage, plainImage } from '../../support/sandbox/package-image.ts';
import { accountsWithSandbox } from '../../support/sandbox/sandbox.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const { accounts } = await accountsWithSandbox();
const finish = { name: 'finish', input: { title: 'Look', summary: 'Looked.' } };
const run = (command: string) => ({ name: 'run', input: { command } });
const scripts = {
  tool: `printf '#!/bin/sh\\necho tool\\n' > /usr/bin/tool && chmod 755 /usr/bin/tool`,
  other: 'echo "token $TOKEN level $LEVEL"',
};
const file = '.docket/environment.yml';
const started = (names: string, name = file) => `The installation of the packages of ${name} started: ${names}.`;
const succeeded = expect.stringMatching(/^The installation of the packages of .* succeeded in [\d.]+ s\./);
const setup = [expect.stringMatching(/^The setup of .* started/), expect.stringMatching(/^The setup of .* succeeded/)];

describe.runIf(accounts.length > 0)('a job whose environment names packages', { tags: 'slow' }, () => {
  let database: TestDatabase;
  let directory: string;
  let images: Images;
  let repository: TestRepository;
  beforeAll(async () => {
    database = await createTestDatabase();
    directory = temporaryDirectory();
    images = await openPackageImages(directory, scripts);
    repository = await createTestRepository({ 'README.md': '# Lamp\n' });
  });
  afterAll(async () => {
    await repository[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  interface Job {
    path?: string;
    environment: object;
    projectId?: string;
    hosts?: string[];
    on?: Images;
    /** Called between the two steps. */
    between?: () => Promise<void>;
  }

  const openScene = ({ hosts = ['mirror.test'], on = images }: Pick<Job, 'hosts' | 'on'> = {}) =>
    startCommandScene(database, ({ commands, ceilings }) => ({
      commands: commands && { ...commands, images: { ...on, standard: null } },
      ceilings: { ...ceilings, hosts },
    }));

  async function noticesOf(jobId: string): Promise<string[]> {
    const { events } = await asOperator(database.pool).events(jobId);
    return events.flatMap(({ type, data }) => (type === 'notice' ? [String(data['text'])] : []));
  }

  /** Runs a job; `printed` is what its agent's command printed in the second step. */
  async function runWith({ path = file, environment, projectId, hosts, on, between }: Job) {
    await using scene = await openScene({ hosts, on });
    const { model, worker } = scene;
    await repository.commit({ [file]: null, [path]: JSON.stringify(environment) });
    const look = run('tool; read -r made < ~/made; echo "made $made"; id -u');
    model.script(
      { toolCalls: [look] },
      async () => {
        await between?.();
        return { toolCalls: [look] };
      },
      { toolCalls: [finish] },
    );
    const job = await worker.runJob({ prompt: 'Look', repository: repository.path, projectId });
    const notices = await noticesOf(job.id);
    const results = [...JSON.stringify(model.requests.at(-1)?.body ?? '').matchAll(/\[exit code \d+\]\\n(.*?)"/g)];
    return { job, notices, printed: results.at(-1)?.[1], requests: model.requests.length };
  }

  // without inputs, only the packages distinguish two setups
  const made = { setup: 'tool > ~/made', inputs: [] };
  const printed = 'tool\\nmade tool\\n1000';

  it('finds them in its setup and its commands, on every worker, and installs them once on each', async () => {
    const environment = { image: packageImage, packages: ['tool'], ...made };
    const first = await runWith({ environment });
    expect(first).toMatchObject({ job: { status: 'completed' }, printed });
    expect(first.notices).toEqual([started('tool'), succeeded, ...setup]);
    const { projectId } = first.job;

    const again = await runWith({ environment: { ...environment, packages: ['tool', 'tool'] }, projectId });
    expect(again).toMatchObject({ printed, notices: [expect.stringContaining('is skipped')] });

    const elsewhere = await openPackageImages(temporaryDirectory(), scripts);
    const other = await runWith({ environment, projectId, on: elsewhere });
    expect(other).toMatchObject({ printed, notices: [started('tool'), succeeded, expect.stringContaining('skipped')] });

    // other packages, other setup: neither the variables nor the secrets of the project reach an installer
    const more = { ...environment, packages: ['tool', 'other'], variables: { LEVEL: '3' } };
    const changed = await runWith({ environment: more, projectId });
    expect(changed).toMatchObject({ printed, notices: [started('tool, other'), succeeded, ...setup] });
  });

  it('gets them again where they are removed in the middle of a turn', async () => {
    const { printed: last, notices } = await runWith({
      environment: { image: packageImage, packages: ['other', 'tool'], ...made },
      async between() {
        const folder = join(directory, 'work/images');
        for (const name of await readdir(folder))
          if (name !== 'unfinished') await rm(join(folder, name), { recursive: true });
      },
    });
    expect(last).toBe(printed);
    expect(notices.slice(-2)).toEqual([started('other, tool'), succeeded]);
  });

  const subject = `The installation of the packages of ${file}`;
  it.each([
    [
      { image: packageImage, packages: ['gone'] },
      {},
      `${subject} failed with exit code 100. Its last lines:\nE: Unable to locate package gone`,
    ],
    [
      { image: plainImage, packages: ['tool'] },
      {},
      `${subject} needs apt-get, which the image lacks. Use an image of Debian or Ubuntu.`,
    ],
    [{ packages: ['tool'] }, {}, `${subject} needs an image. Name one as image in the same description.`],
    [
      { image: packageImage, packages: ['gone'] },
      { hosts: [] },
      `${subject} needs a network. List the hosts that the image gets packages from, such as deb.debian.org, in DOCKET_RUN_HOSTS of the worker, and in hosts.setup.`,
    ],
  ])('fails with one sentence: %j %j', async (environment, options, message) => {
    const { job, requests } = await runWith({ environment, ...options });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'setup_failed', message });
    expect(requests).toBe(0);
  });

  it("follows another product's file, and goes on without packages that cannot be installed", async () => {
    const path = '.devcontainer.json';
    const follows = `The environment of this job follows ${path}.`;
    const environment = {
      image: 'registry.test/packages',
      onCreateCommand: 'sudo apt-get install -y tool',
      postCreateCommand: 'tool > ~/made',
    };
    const first = await runWith({ path, environment });
    expect(first).toMatchObject({ printed, notices: [follows, started('tool', path), succeeded, ...setup] });
    const gone = await runWith({
      path,
      environment: { ...environment, onCreateCommand: 'apt-get install gone', postCreateCommand: 'echo none > ~/made' },
    });
    expect(gone.printed).toContain('made none');
    expect(gone.notices).toEqual([
      follows,
      started('gone', path),
      expect.stringContaining('Unable to locate package gone'),
      `The job continues without the packages of ${path}.`,
      ...setup,
    ]);
  });

  it("does not try again at once what failed for another product's file", async () => {
    const path = '.devcontainer.json';
    const environment = { image: 'registry.test/packages', onCreateCommand: 'apt-get install gone' };
    await repository.commit({ [file]: null, [path]: JSON.stringify(environment) });
    await using scene = await openScene();
    async function noticesOfJob(projectId?: string) {
      scene.model.script({ toolCalls: [finish] });
      const job = await scene.worker.runJob({ prompt: 'Look', repository: repository.path, projectId });
      expect(job.status).toBe('completed');
      return { projectId: job.projectId, notices: await noticesOf(job.id) };
    }
    const first = await noticesOfJob();
    expect(first.notices).toContain(started('gone', path));
    const again = await noticesOfJob(first.projectId);
    expect(again.notices).toEqual([
      `The environment of this job follows ${path}.`,
      expect.stringMatching(/is skipped, because it failed just now: .*Unable to locate package gone/s),
      `The job continues without the packages of ${path}.`,
    ]);
    const other = await noticesOfJob();
    expect(other.notices).toContain(started('gone', path));
  });
});
