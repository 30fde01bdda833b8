import { describe, expect, it } from 'vitest';
import { startCommandScene } from '../../support/sandbox/command-scene.ts';
import { createSetupSecretStore } from '../../../db/organizations/setup-secrets.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildProject, operatorOfProject } from '../../support/database/build.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { accountsWithSandbox } from '../../support/sandbox/sandbox.ts';
import { ofFile } from '../../support/of-file.ts';

const { accounts } = await accountsWithSandbox();
const database = ofFile(createTestDatabase);

const run = (command: string) => ({ name: 'run', input: { command } });
const finish = { name: 'finish', input: { title: 'Change it', summary: 'Changed.' } };
const write = (path: string) => ({ name: 'write', input: { path, content: `${path}\n` } });

const noticesOf = async (jobId: string): Promise<string[]> => {
  const { rows } = await database.pool.query(
    `select data->>'text' as text from job_events where job_id = $1 and type = 'notice' order by seq`,
    [jobId],
  );
  return rows.map(({ text }) => text);
};

const install = `
mkdir -p node_modules/dep ~/.cache vendor-made
echo "module.exports = 1" > node_modules/dep/index.js
echo kept > ~/.cache/kept
echo made > "vendor-made/a file"
date +%N > ~/.cache/stamp
echo changed >> README.md
chmod -R a-w ~/.cache
`;
const environmentFile = (more: string) => `setup: |\n${install.replaceAll(/^/gm, '  ')}\n${more}`;

describe.runIf(accounts.length > 0)('the environment of a job', () => {
  it('holds what setup installed, once for all jobs, and outside the pull request', { tags: ['slow'] }, async () => {
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    await repository.commit({
      '.docket/environment.yml': environmentFile(
        'variables: {LEVEL: 3}\npath: [~/bin]\ncheck: test -f new.md\nlimits: {cpus: 1}',
      ),
      '.gitignore': 'node_modules/\n',
    });
    const look = 'cat node_modules/dep/index.js ~/.cache/* "vendor-made/a file" README.md; echo "$LEVEL $PATH"; nproc';
    const seen: string[] = [];
    let projectId: string | undefined;
    for (const path of ['new.md', 'other.md']) {
      model.script(
        { toolCalls: [write('new.md'), write(path), run(look)] },
        { toolCalls: [run(look)] },
        { toolCalls: [finish] },
      );
      const job = await worker.runJob({ prompt: 'Look', repository: repository.path, projectId });
      projectId = job.projectId;
      expect(job).toMatchObject({ status: 'completed' });
      expect(Object.keys(await repository.read(job.headCommit!)).toSorted()).toEqual(
        [...new Set(['.docket/environment.yml', '.gitignore', 'README.md', 'new.md', path])].toSorted(),
      );
      const said = JSON.stringify(model.requests.at(-1)!.body);
      expect(said).toContain('module.exports = 1\\nkept');
      seen.push(/kept\\n(\d+)/.exec(said)![1]!);
      expect(said).toMatch(/made\\n# Lamp\\n3 \/home\/job\/bin:[\w/.:-]+\\n1\b/);
      expect(job.check).toMatchObject({ result: 'passed' });
      const notices = await noticesOf(job.id);
      expect(notices.at(-1)).toMatch(path === 'new.md' ? /succeeded in/ : /is skipped: .* from this worker/);
    }
    expect(seen[0]).toBe(seen[1]);
  });

  it(
    'comes from the database on another machine, and runs setup once for jobs that start together',
    { tags: ['slow'] },
    async () => {
      await using scene = await startCommandScene(database);
      await using elsewhere = await startCommandScene(database);
      const { repository } = scene;
      await repository.commit({ '.docket/environment.yml': environmentFile('') });
      const { id: projectId } = await buildProject(database.pool, { repository: repository.path, forge: 'local' });
      const scenes = [scene, scene, elsewhere];
      for (const { model } of scenes) model.script({ toolCalls: [run('cat ~/.cache/stamp')] }, { toolCalls: [finish] });
      const jobs = await Promise.all(
        scenes.map(({ worker }) => worker.runJob({ prompt: 'Look', repository: repository.path, projectId })),
      );
      const notices = await Promise.all(jobs.map(({ id }) => noticesOf(id)));
      expect(notices.flat().filter((text) => text.includes('started'))).toHaveLength(1);
      expect(jobs.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
      expect(notices[2]!.at(-1)).toMatch(/from another worker|succeeded/);
      const stamps = scenes.flatMap(({ model }) =>
        [...JSON.stringify(model.requests.at(-1)!.body).matchAll(/exit code 0\]\\n(\d+)/g)].map(([, stamp]) => stamp),
      );
      expect(new Set(stamps).size).toBe(1);
    },
  );

  it(
    'starts a setup with the package caches of the last one, unless they fill its disk',
    { tags: ['slow'] },
    async () => {
      await using scene = await startCommandScene(database);
      await using elsewhere = await startCommandScene(database);
      const { repository } = scene;
      const { id: projectId } = await buildProject(database.pool, { repository: repository.path, forge: 'local' });
      const runWith = async (
        { model, worker }: typeof scene,
        setup: string,
        limits: { setupSeconds?: number } = {},
      ) => {
        const environment = { setup, limits: { diskGb: 0.02, ...limits } };
        await repository.commit({ '.docket/environment.yml': JSON.stringify(environment) });
        model.script({ toolCalls: [run('find ~ -type f -printf "%P "')] }, { toolCalls: [finish] });
        const job = await worker.runJob({ prompt: 'Look', repository: repository.path, projectId });
        const [, files] = /exit code 0\]\\n([\w/. -]*)/.exec(JSON.stringify(model.requests.at(-1)!.body)) ?? [];
        const { status, message } = job;
        return { status, message, files: files?.trim().split(' ').toSorted(), notices: await noticesOf(job.id) };
      };
      const started = 'The setup of .docket/environment.yml started';

      const first = await runWith(
        scene,
        'mkdir -p ~/.cache/pip ~/go/pkg/mod/x ~/other && echo 1 | tee ~/.cache/pip/a ~/go/pkg/mod/x/b ~/other/c && chmod -R a-w ~/go',
      );
      expect(first).toMatchObject({ status: 'completed', files: ['.cache/pip/a', 'go/pkg/mod/x/b', 'other/c'] });
      expect(first.notices[0]).toBe(`${started}.`);
      const places = [scene, elsewhere];
      for (const place of places) {
        const second = await runWith(
          place,
          `test -f ~/.cache/pip/a && test ! -e ~/other && echo ${places.indexOf(place)} > ~/d`,
        );
        expect(second).toMatchObject({ status: 'completed', files: ['.cache/pip/a', 'd', 'go/pkg/mod/x/b'] });
        expect(second.notices[0]).toBe(`${started} with the package caches of the last one.`);
      }

      await runWith(scene, 'mkdir -p ~/.npm && head -c 9M /dev/urandom > ~/.npm/large');
      const full = await runWith(scene, 'head -c 15M /dev/urandom > ~/needed; sleep 3');
      expect(full).toMatchObject({ status: 'completed', files: ['needed'] });
      expect(full.notices.slice(0, 2)).toEqual([`${started} with the package caches of the last one.`, `${started}.`]);

      await runWith(scene, 'mkdir -p ~/.npm && head -c 9M /dev/urandom > ~/.npm/larger');
      // fills the disk after three seconds, so that the second attempt has less time than it needs
      const slow = await runWith(scene, 'sleep 3; head -c 15M /dev/urandom > ~/needed; sleep 3', { setupSeconds: 8 });
      expect(slow.status).toBe('failed');
      expect(slow.message).toContain('did not end within 8 seconds (limits.setupSeconds)');
    },
  );

  async function expectSetupFailure(text: string, sentence: string): Promise<void> {
    await using scene = await startCommandScene(database);
    await scene.repository.commit({ '.docket/environment.yml': text });
    const job = await scene.worker.runJob({ prompt: 'Look', repository: scene.repository.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'setup_failed' });
    expect(job.message).toContain(sentence);
    if (text === 'setpu: npm ci')
      await recordHistory('failed-setup-failed', scene.worker.client.workflow.getHandle(jobWorkflowId(job.id, 1)));
  }

  it.each([
    ['setpu: npm ci', '.docket/environment.yml has the unknown key "setpu".'],
    ['setup: "echo before; echo why >&2; exit 3"', 'failed with exit code 3. Its last lines:\nbefore\nwhy'],
  ])('ends the job if it is wrong: %s', expectSetupFailure);
  it.each([
    ['limits: {diskgb: 1}', '.docket/environment.yml has the unknown key "diskgb" in limits.'],
    ['variables: {PATH: /bin}', '.docket/environment.yml is wrong at variables: cannot set "PATH"'],
    ['a: &a [*a]', '.docket/environment.yml has an alias (*name), which is not supported.'],
    [
      'setup: sleep 60\nlimits: {setupSeconds: 1}',
      'did not end within 1 seconds (limits.setupSeconds). It printed nothing.',
    ],
    [
      'setup: head -c 60M /dev/urandom > ~/big; sleep 3\nlimits: {diskGb: 0.02}',
      'wrote more than 0.02 GB (limits.diskGb)',
    ],
  ])('ends the job if it is wrong: %s', { tags: 'slow' }, expectSetupFailure);

  it('ends all jobs that wait for a setup that fails, and none that starts later', { tags: ['slow'] }, async () => {
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    const { id: projectId } = await buildProject(database.pool, { repository: repository.path, forge: 'local' });
    // the file is no input of the setup, so the second job wants the same
    const setup = 'if [ -e works ]; then exit 0; fi; sleep 60';
    const text = JSON.stringify({ setup, inputs: ['none'], limits: { setupSeconds: 4 } });
    await repository.commit({ '.docket/environment.yml': text });
    const started = async () => {
      const job = { prompt: 'Look', repository: repository.path, projectId };
      return Promise.all([1, 2, 3].map(() => worker.runJob(job, { maxDurationMs: 30_000 })));
    };
    const jobs = await started();
    for (const job of jobs) {
      expect(job).toMatchObject({ status: 'failed', failureCategory: 'setup_failed' });
      expect(job.message).toContain('did not end within 4 seconds (limits.setupSeconds). It printed nothing.');
    }
    const notices = (await Promise.all(jobs.map(({ id }) => noticesOf(id)))).flat();
    expect(notices.filter((notice) => notice.includes('started'))).toHaveLength(1);
    await repository.commit({ works: '' });
    model.script({ toolCalls: [finish] });
    expect(await worker.runJob({ prompt: 'Look', repository: repository.path, projectId })).toMatchObject({
      status: 'completed',
    });
  });

  it('runs its profile and starts services before each command and before the check', { tags: ['slow'] }, async () => {
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    const server = `require('http').createServer((_, answer) => answer.end(process.env.LEVEL)).listen(process.env.PORT)`;
    const start = `node -e "${server}" &\nuntil curl -s localhost:8123 > ~/answer; do sleep 0.1; done`;
    const profile = 'export PORT=8123\nask() { curl -s "localhost:$PORT"; } # asks';
    const check = '[ "$(ask)" = 3 ]';
    const runWith = async (environment: object) => {
      await repository.commit({
        '.docket/environment.yml': JSON.stringify({ variables: { LEVEL: '3' }, ...environment }),
      });
      const job = await worker.runJob({ prompt: 'Look', repository: repository.path });
      return { job, said: JSON.stringify(model.requests.at(-1)!.body) };
    };
    const look = run('ask; echo; cat ~/answer');
    model.script({ toolCalls: [look, look] }, { toolCalls: [write('new.md'), finish] });
    const { job, said } = await runWith({ start, profile, check });
    expect(said.match(/\[exit code 0\]\\n3\\n3/g)).toHaveLength(2);
    expect(said).toContain("Before each command, the project's start script runs");
    expect(job).toMatchObject({ status: 'completed', check: { result: 'passed' }, prDraft: false });

    const finishes = [1, 2, 3].map(() => ({ toolCalls: [finish] }));
    model.script({ toolCalls: [write('new.md'), run('echo ran')] }, ...finishes);
    const failed = await runWith({ start: 'echo why; exit 3', check: 'true' });
    const sentence =
      'The start script of the environment failed with exit code 3, so this command did not run. Its last lines:\\nwhy';
    expect(failed.said).toContain(`[exit code 1]\\n${sentence}`);
    expect(failed.said).toContain(`$ true\\n[exit code 1]\\n${sentence}`);
    expect(failed.job).toMatchObject({ status: 'completed', check: { result: 'failed' }, prDraft: true });
  });

  it('has the secrets in its setup only, and they are masked wherever it prints them', { tags: ['slow'] }, async () => {
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    const { id: projectId } = await buildProject(database.pool, { repository: repository.path, forge: 'local' });
    const store = createSetupSecretStore(database.pool, createSecretBox([]));
    const caller = await operatorOfProject(database.pool, projectId);
    const value = `value-${projectId}`;
    await store.set(caller, projectId, { name: 'API_TOKEN', value });
    const runWith = async (setup: string) => {
      const start = 'env | grep -c value- > ~/start || true';
      await repository.commit({ '.docket/environment.yml': JSON.stringify({ setup, start }) });
      return worker.runJob({ prompt: 'Look', repository: repository.path, projectId });
    };

    model.script(
      { toolCalls: [run('cat ~/start; echo "[$API_TOKEN]"; env | grep -c value-')] },
      { toolCalls: [finish] },
    );
    expect(await runWith('echo ${#API_TOKEN} > ~/length')).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(model.requests.at(-1)!.body)).toContain('[exit code 1]\\n0\\n[]\\n0');

    const printed = await runWith('echo "token $API_TOKEN"; exit 1');
    expect(printed).toMatchObject({ status: 'failed', failureCategory: 'setup_failed' });
    expect(printed.message).toContain('token [redacted]');
    const left = await runWith('echo "//registry/:_authToken=$API_TOKEN" > ~/.npmrc');
    expect(left.message).toMatch(/left the secret API_TOKEN in a file/);

    for (const { id } of [printed, left]) {
      const history = await worker.client.workflow.getHandle(jobWorkflowId(id, 1)).fetchHistory();
      expect(Buffer.from(JSON.stringify(history)).toString()).not.toContain(value);
      expect((await noticesOf(id)).join()).not.toContain(value);
    }
    const { rows } = await database.pool.query(
      `select data::text from job_events where data::text like $1
       union all select failure from environment_layers where failure like $1`,
      [`%${value}%`],
    );
    expect(rows).toEqual([]);
  });
});
