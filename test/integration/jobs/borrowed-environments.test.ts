import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extractImage } from '../../../activities/images/image-layout.ts';
import { openImages, type Images } from '../../../activities/images/images.ts';
import { ImageError } from '../../../activities/images/image-error.ts';
import { startCommandScene } from '../../support/sandbox/command-scene.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { architectureOfImages, shellWithLibraries, writeImage } from '../../support/sandbox/oci-image.ts';
import { accountsWithSandbox } from '../../support/sandbox/sandbox.ts';
import { asOperator } from '../../support/stack/operator.ts';
import type { TestWorker } from '../../support/stack/worker.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const { accounts } = await accountsWithSandbox();
const devcontainer = '.devcontainer/devcontainer.json';
const copilot = '.github/workflows/copilot-setup-steps.yml';
const finish = { name: 'finish', input: { title: 'Look', summary: 'Looked.' } };
const run = (command: string) => ({ name: 'run', input: { command } });
const place = '[ -e /usr/bin/git ] && echo worker || echo "image $GREETING"';

/** Changes the worker before the job's model answers. */
type BeforeAnswer = (deps: TestWorker['deps']) => Promise<void>;

interface LookOptions {
  hosts?: string[];
  before?: BeforeAnswer;
  /** Shell text that the agent's command ends with. */
  also?: string;
}

describe.runIf(accounts.length > 0)("an environment of another product's file", () => {
  let database: TestDatabase;
  let images: Images;
  /** Names of the images that were pulled. */
  const pulled: string[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    const directory = temporaryDirectory();
    await mkdir(join(directory, 'archives'));
    const archive = join(directory, 'archives/tools.tar');
    await writeImage(archive, { layers: [await shellWithLibraries()], variables: ['GREETING=hello'] });
    images = await openImages({
      directory: join(directory, 'work'),
      allowed: [{ kind: 'repository', text: 'registry.test/tools' }],
      archives: join(directory, 'archives'),
      async pull({ name, folder, budget, signal }) {
        pulled.push(name);
        if (name.endsWith(':down')) throw new ImageError('unavailable', `The image ${name} could not be pulled.`);
        await extractImage(archive, folder, { budget, signal });
      },
      architecture: architectureOfImages,
      limits: { bytes: 100e6, entries: 1_000 },
      totalBytes: 1e9,
    });
  });
  afterAll(() => database[Symbol.asyncDispose]());

  /** Runs a job with this file. Returns what a command of its agent printed, and the notices of its timeline. */
  async function runWith(
    path: string,
    content: unknown,
    { hosts = ['registry.test'], before = async () => {}, also = 'true' }: LookOptions = {},
  ) {
    pulled.length = 0;
    await using scene = await startCommandScene(database, ({ commands, ceilings }) => ({
      commands: commands && { ...commands, images: { ...images, standard: null } },
      ceilings: { ...ceilings, hosts },
    }));
    const { repository, model, worker } = scene;
    await repository.commit({ [path]: typeof content === 'string' ? content : JSON.stringify(content) });
    const look = run(`${place}; made=nothing; [ ! -e ~/made ] || read -r made < ~/made; echo "made $made"; ${also}`);
    model.script(
      async () => {
        await before(worker.deps);
        return { toolCalls: [look] };
      },
      { toolCalls: [finish] },
    );
    const job = await worker.runJob({ prompt: 'Look', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', failureCategory: null });
    const [, printed = ''] = /\[exit code 0\]\\n(.*?)"/.exec(JSON.stringify(model.requests.at(-1)!.body)) ?? [];
    return { printed, notices: await noticesOf(job.id) };
  }

  async function noticesOf(jobId: string): Promise<string[]> {
    const { events } = await asOperator(database.pool).events(jobId);
    return events.flatMap(({ type, data }) => (type === 'notice' ? [String(data['text'])] : []));
  }

  const started = (name: string) => `The setup of ${name} started.`;
  const succeeded = (name: string) => expect.stringMatching(`^The setup of ${name} succeeded in .* s\\.`);
  const follows = (name: string) => `The environment of this job follows ${name}.`;

  it.each([
    [devcontainer, { image: 'registry.test/tools:1', postCreateCommand: `(${place}) > ~/made` }],
    [
      copilot,
      {
        jobs: {
          'copilot-setup-steps': { container: 'registry.test/tools:1', steps: [{ run: `(${place}) > ~/made` }] },
        },
      },
    ],
  ])('runs its setup and its commands in the image that it names: %s', { tags: 'slow' }, async (name, content) => {
    const { printed, notices } = await runWith(name, content);
    expect(printed).toBe('image hello\\nmade image hello');
    expect(notices).toEqual([follows(name), started(name), succeeded(name)]);
  });

  it.each([
    [
      'not allowed',
      'python:3.13',
      'The operator does not allow the image docker.io/library/python:3.13. Ask for it in DOCKET_IMAGES.',
    ],
    ['not available', 'registry.test/tools:down', 'The image registry.test/tools:down could not be pulled.'],
  ])('goes on without an image that is %s, and says so', { tags: 'slow' }, async (_, image, why) => {
    const { printed, notices } = await runWith(devcontainer, { image, postCreateCommand: `(${place}) > ~/made` });
    expect(pulled).toEqual(image.endsWith(':down') ? [image] : []);
    expect(printed).toBe('worker\\nmade worker');
    expect(notices).toEqual([
      follows(devcontainer),
      `The job continues without the image of ${devcontainer}. ${why}`,
      started(devcontainer),
      succeeded(devcontainer),
    ]);
  });

  it('goes on without it also where its setup has to run once more in the turn', { tags: 'slow' }, async () => {
    const content = { image: 'python:3.13', postCreateCommand: `(${place}) > ~/made` };
    const { printed, notices } = await runWith(devcontainer, content, {
      async before({ layerFiles, workspaces }) {
        const { rows } = await database.pool.query(
          `with newest as (select id, project_id from jobs order by created_at desc limit 1)
           delete from environment_layers using newest where environment_layers.project_id = newest.project_id
           returning newest.id as "jobId", newest.project_id as "projectId", key`,
        );
        await workspaces.remove(rows[0].jobId);
        await layerFiles.discard((await layerFiles.find(rows[0]))!.folder);
      },
    });
    expect(printed).toBe('worker\\nmade worker');
    const setup = [started(devcontainer), succeeded(devcontainer)];
    expect(notices).toEqual([expect.any(String), expect.stringContaining('without the image'), ...setup, ...setup]);
  });

  it('says what it ignores, and goes on without a setup that fails', { tags: 'slow' }, async () => {
    const { printed, notices } = await runWith(devcontainer, {
      image: 'registry.test/tools:1',
      features: { 'ghcr.io/acme/go:1': {} },
      remoteUser: 'vscode',
      containerEnv: { TOKEN: '${localEnv:TOKEN}' },
      postCreateCommand: 'echo made > ~/made; echo why >&2; exit 3',
    });
    expect(pulled).toEqual([]);
    expect(printed).toBe('worker\\nmade nothing');
    expect(notices).toEqual([
      `${follows(devcontainer)} Ignored: image; features; remoteUser; the variable TOKEN.`,
      started(devcontainer),
      `The setup of ${devcontainer} failed with exit code 3. Its last lines:\nwhy`,
      `The job continues without what the setup of ${devcontainer} installs.`,
    ]);
  });

  it('starts what it starts, and runs its commands without if that fails', { tags: 'slow' }, async () => {
    const start = (postStartCommand: unknown) => runWith(devcontainer, { postStartCommand });
    const { printed, notices } = await start({ made: ['sh', '-c', 'echo started > ~/made'] });
    expect([printed, notices]).toEqual(['worker\\nmade started', [follows(devcontainer)]]);
    const failed = await start('echo why; exit 3');
    expect(failed.printed).toBe(
      'The start script of the environment failed with exit code 3, so the commands of this job run without it. Its last lines:\\nwhy\\n\\nworker\\nmade nothing',
    );
  });

  it('hands variables and folders of PATH from step to step, and to the agent', { tags: 'slow' }, async () => {
    const steps = [
      { run: 'mkdir ~/tools ~/other; cp /bin/true ~/tools/made; echo ~/tools >> $GITHUB_PATH' },
      {
        run: 'echo ~/other >> $GITHUB_PATH; echo "SAID=it is $HOME" >> "$GITHUB_ENV"; echo done >> $GITHUB_STEP_SUMMARY',
      },
      { run: 'printf "LONG<<EOF\\na line\\nEOF\\n" >> "$GITHUB_ENV"' },
      { run: 'made; [ "${PATH%:/home/job/tools:*}" = /home/job/other ] && test -f "$GITHUB_WORKSPACE/README.md"' },
      { run: 'echo "$SAID $OWN" > ~/made', env: { OWN: 'own' } },
    ];
    const also = 'made && echo "$SAID, and ${OWN-nothing}"';
    const { printed, notices } = await runWith(copilot, { jobs: { 'copilot-setup-steps': { steps } } }, { also });
    expect(printed).toBe('worker\\nmade it is /home/job own\\nit is /home/job, and nothing');
    expect(notices).toEqual([follows(copilot), started(copilot), succeeded(copilot)]);
  });

  it('skips a setup that has failed for ten minutes, and says so', { tags: 'slow' }, async () => {
    await using scene = await startCommandScene(database, ({ ceilings }) => ({
      ceilings: { ...ceilings, hosts: ['registry.test'] },
    }));
    const { repository, model, worker } = scene;
    await repository.commit({ [devcontainer]: JSON.stringify({ postCreateCommand: 'echo why; exit 3' }) });
    model.script(...[1, 2, 3].map(() => ({ toolCalls: [finish] })));
    const { id, projectId } = await worker.runJob({ prompt: 'Look', repository: repository.path });
    const age = (interval: string) =>
      database.pool.query(`update environment_layers set failed_at = now() - $2::interval where project_id = $1`, [
        projectId,
        interval,
      ]);
    await age('3 minutes');
    await worker.followUp(id, 'Look again');
    await age('11 minutes');
    await worker.followUp(id, 'Look again');
    const failed = `The setup of ${devcontainer} failed with exit code 3. Its last lines:\nwhy`;
    const skipped = `The setup of ${devcontainer} is skipped, because it failed 3 minutes ago: after a failure, it does not run for 10 minutes.`;
    const goesOn = `The job continues without what the setup of ${devcontainer} installs.`;
    const ran = [follows(devcontainer), started(devcontainer), failed, goesOn];
    expect(await noticesOf(id)).toEqual([...ran, follows(devcontainer), `${skipped} ${failed}`, goesOn, ...ran]);
  });

  it('skips its setup where commands reach no network, and says so', { tags: 'slow' }, async () => {
    const steps = [{ uses: 'actions/setup-node@v4', with: { 'node-version': 22 } }, { run: 'echo 1 > ~/made' }];
    const { printed, notices } = await runWith(copilot, { jobs: { 'copilot-setup-steps': { steps } } }, { hosts: [] });
    expect(printed).toBe('worker\\nmade nothing');
    expect(notices).toEqual([
      `${follows(copilot)} Ignored: the wish for Node.js 22: jobs use what the worker has, or what setup installs.`,
      `The setup of ${copilot} is skipped, because commands reach no network here (DOCKET_RUN_HOSTS).`,
    ]);
  });
});
