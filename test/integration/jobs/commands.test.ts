import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { startCommandScene } from '../../support/sandbox/command-scene.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { accountsWithSandbox, processesNamed } from '../../support/sandbox/sandbox.ts';
import { ofFile } from '../../support/of-file.ts';

const { accounts } = await accountsWithSandbox();
const database = ofFile(createTestDatabase);

const run = (command: string) => ({ name: 'run', input: { command } });
const finish = { name: 'finish', input: { title: 'Change it', summary: 'Changed.' } };

const toolsAsked = (model: { requests: { body: any }[] }) =>
  model.requests.map(({ body }) => body.tools.map(({ function: { name } }: any) => name).includes('run'));

describe.runIf(accounts.length > 0)('commands of an agent', () => {
  it('change only the working copy, and their changes are published', async () => {
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    model.script(
      {
        toolCalls: [
          {
            name: 'write',
            input: { path: 'make.sh', content: 'mkdir -p docs build; echo made > docs/made.md; echo x > build/x\n' },
          },
        ],
      },
      { toolCalls: [run('sh make.sh && ls -A && git status 2>&1; ls .git 2>&1; rm make.sh')] },
      { toolCalls: [run('cat docs/made.md; false')] },
      { toolCalls: [finish] },
    );
    const job = await worker.runJob({ prompt: 'Make it', repository: repository.path });
    expect(job.status).toBe('completed');
    expect(await repository.read(job.headCommit!)).toMatchObject({ 'docs/made.md': '100644 made' });
    expect(Object.keys(await repository.read(job.headCommit!)).toSorted()).toEqual([
      '.gitignore',
      'README.md',
      'docs/made.md',
    ]);
    const said = JSON.stringify(model.requests.at(-1)!.body);
    expect(said).toContain('.gitignore\\nREADME.md\\nbuild\\ndocs\\nmake.sh');
    expect(said).toContain('not a git repository');
    expect(said).toContain('[exit code 1]\\nmade');
    expect(toolsAsked(model)).toEqual([true, true, true, true]);
  });

  it('end at the time limit of the operator, whatever the agent asks for', async () => {
    await using scene = await startCommandScene(database, ({ commands }) => ({
      commands: commands && { ...commands, maxSeconds: 1 },
    }));
    const { repository, model, worker } = scene;
    model.script({ toolCalls: [run('echo begun; sleep 60')] }, { toolCalls: [finish] });
    await worker.runJob({ prompt: 'Wait', repository: repository.path });
    expect(JSON.stringify(model.requests.at(-1)!.body)).toMatch(/time limit exceeded, after \d+\.\d s\]\\nbegun/);
  });

  it('are not offered, and refused anyway, if the project does not let agents run them', async () => {
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    const id = await worker.createJob({ prompt: 'Run', repository: repository.path });
    await database.pool.query('update projects set may_run = false');
    try {
      model.script({ toolCalls: [run('touch x')] }, { toolCalls: [finish] });
      await worker.startJob(id);
      expect(await worker.ended(id)).toMatchObject({ status: 'completed', prLink: null });
      expect(toolsAsked(model)).toEqual([false, false]);
      expect(JSON.stringify(model.requests.at(-1)!.body)).toContain('There is no tool named');
    } finally {
      await database.pool.query('update projects set may_run = true');
    }
  });

  it('start over from the tree before them when the worker is lost, unless their result is stored', async () => {
    let lost = 0;
    await using scene = await startCommandScene(database, ({ steps }) => ({
      steps: {
        ...steps,
        async storeResults(batch) {
          if (batch.step === 1 && (lost += 1) === 1) throw new Error('the worker is lost before it stores');
          return steps.storeResults(batch);
        },
      },
    }));
    const { repository, model, worker } = scene;
    model.script(
      { toolCalls: [run('echo ran >> log; echo half > half-$RANDOM')] },
      { toolCalls: [run('ls; cat log')] },
      { toolCalls: [finish] },
    );
    const job = await worker.runJob({ prompt: 'Run', repository: repository.path });
    expect(lost).toBe(2);
    expect(job.status).toBe('completed');
    const files = await repository.read(job.headCommit!);
    expect(files['log']).toBe('100644 ran');
    expect(Object.keys(files).filter((name) => name.startsWith('half'))).toHaveLength(1);
  });

  it(
    'leave nothing behind after filling the disk, and the agent continues with the tree before them',
    { tags: ['slow'] },
    async () => {
      await using scene = await startCommandScene(database);
      const { repository, model, worker } = scene;
      model.script(
        { toolCalls: [{ name: 'write', input: { path: 'kept.md', content: 'kept\n' } }] },
        {
          toolCalls: [
            { name: 'write', input: { path: 'lost.md', content: 'lost\n' } },
            run('while :; do head -c 4M /dev/urandom > big-$RANDOM; done'),
            finish,
          ],
        },
        { toolCalls: [run('ls')] },
        { toolCalls: [finish] },
      );
      const job = await worker.runJob({ prompt: 'Fill', repository: repository.path });
      expect(job.status).toBe('completed');
      expect(Object.keys(await repository.read(job.headCommit!)).toSorted()).toEqual([
        '.gitignore',
        'README.md',
        'kept.md',
      ]);
      const said = JSON.stringify(model.requests.at(-1)!.body);
      expect(said).toContain('The changes of all calls of this answer were discarded.');
      expect(said).toContain('[exit code 0]\\nREADME.md\\nkept.md');
    },
  );

  it('have their changes discarded if these are too large to be stored', { tags: ['slow'] }, async () => {
    // each command stays below the 32 MB that the tests' sandbox allows per command
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    const grow = run('head -c 20M /dev/urandom > $(mktemp big-XXXXXX); echo made');
    model.script({ toolCalls: [grow, grow] }, { toolCalls: [run('ls'), finish] });
    const job = await worker.runJob({ prompt: 'Fill', repository: repository.path });
    expect(job.status).toBe('completed');
    const said = JSON.stringify(model.requests.at(-1)!.body);
    expect(said).toContain(
      '[Undone: The change is larger than 32 MB. Delete generated files, or add them to .gitignore.',
    );
    expect((await database.pool.query('select from job_snapshots where job_id = $1', [job.id])).rowCount).toBe(0);
  });

  it('show what they print to those who watch, until the result replaces it', async () => {
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    const mark = `watched-${crypto.randomUUID()}`;
    const token = `ghp_${'a1B2'.repeat(9)}`;
    model.script(
      {
        toolCalls: [
          run(
            `echo first; printf ${token.slice(0, 20)}; bash -c 'exec -a ${mark} sleep 600'; echo ${token.slice(20)}; echo last`,
          ),
        ],
      },
      { toolCalls: [finish] },
    );
    const id = await worker.createJob({ prompt: 'Run', repository: repository.path });
    const printed = async () => {
      const { events } = await asOperator(database.pool).events(id, { after: 0, limit: 1_000 });
      return events.filter(({ type }) => type === 'output').map(({ step, data }) => ({ step, ...data }));
    };
    await worker.startJob(id);
    await expect.poll(printed).toMatchObject([
      { step: 1, attempt: 1, offset: 0, text: '', durationMs: null },
      { step: 1, attempt: 1, offset: 0, text: 'first\n', durationMs: null },
    ]);
    const isSleeper = async (pid: number) =>
      // the shell that starts it has the name in its own arguments, too
      (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).startsWith(mark);
    const sleepers = async () => {
      const pids = await processesNamed(mark);
      const found = await Promise.all(pids.map(isSleeper));
      return pids.filter((_, index) => found[index]);
    };
    await expect.poll(sleepers).toHaveLength(1);
    for (const pid of await sleepers()) process.kill(pid);
    expect(await worker.ended(id)).toMatchObject({ status: 'completed' });
    await expect.poll(printed).toEqual([]);
    const { events } = await asOperator(database.pool).events(id, { after: 0, limit: 1_000 });
    expect(events.find(({ type }) => type === 'tool-result')?.data['output']).toMatch(/first\n\[redacted\][^]*last/);
    const { rows } = await database.pool.query('select tool_results from job_steps where job_id = $1 and step = 1', [
      id,
    ]);
    expect(rows[0].tool_results[0].durationMs).toBeGreaterThan(0);
  });

  it('end with the job when it is cancelled', async () => {
    await using scene = await startCommandScene(database);
    const { repository, model, worker } = scene;
    const mark = `cancelled-${crypto.randomUUID()}`;
    model.script({ toolCalls: [run(`trap '' TERM; setsid bash -c 'exec -a ${mark} sleep 600' & sleep 600`)] });
    const id = await worker.createJob({ prompt: 'Run', repository: repository.path });
    const { workflowId } = await worker.startJob(id);
    await expect.poll(() => processesNamed(mark)).not.toEqual([]);
    await worker.client.workflow.getHandle(workflowId).cancel();
    await worker.ended(id);
    await expect.poll(() => processesNamed(mark)).toEqual([]);
  });
});
