import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { collectJob } from '../../../worker/replay/collect-job.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { wakeWatchers } from '../../../db/jobs/wake-watchers.ts';
import { readBundle } from '../../../db/jobs/bundle-file.ts';
import { buildJob, buildProject } from '../../support/database/build.ts';
import { runDocket } from '../../support/stack/docket-process.ts';
import { serveCommands, type ServedCommands } from './served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let served: ServedCommands;
beforeAll(async () => void (served = await serveCommands()));
afterAll(() => served[Symbol.asyncDispose]());

const newProject = async () => buildProject(served.database.pool, { organizationId: await served.act() });

describe('docket job', () => {
  it('creates, lists, shows, cancels, archives and deletes a job, given only its id', async () => {
    const { id: project } = await newProject();
    const created = await served.docketJson('job', 'create', 'Write one', '--draft');
    expect(created).toMatchObject({ status: 'active', details: { phase: 'queued' } });
    served.input = 'From a file\n';
    const second = await served.docketJson('job', 'create', '-', '--project', project, '--idempotency-key', 'k1');
    expect(await served.docketJson('job', 'create', '-', '--idempotency-key', 'k1')).toMatchObject({ id: second.id });
    const [newest] = await served.docketJson('job', 'list', '--limit', '1');
    expect(newest).toMatchObject({ id: second.id, projectId: project, prompt: 'From a file\n' });
    expect(await served.docket('job', 'list', '--status', 'active')).toMatch(
      new RegExp(`^${created.id} +queued +${project} .* Write one`, 'm'),
    );
    await served.database.pool.query(
      'update jobs set input_tokens = 100, cached_tokens = 70, cache_write_tokens = 20 where id = $1',
      [created.id],
    );
    wakeWatchers(served.database.pool, created.id);
    const shown = await served.docket('job', 'show', created.id);
    expect(shown).toMatch(/^status: +active \(queued\)$/m);
    expect(shown).toMatch(
      /^input tokens: +100\nread from cache: +70\nwritten to cache: +20\nuncached input: +10\noutput tokens: +0$/m,
    );
    const andTwo = ['job', 'message', created.id, 'And two', '--idempotency-key', 'k2'];
    expect(await served.docketJson(...andTwo)).toMatchObject({ id: created.id });
    expect(await served.docketJson(...andTwo)).toMatchObject({ id: created.id });
    expect((await served.database.pool.query('select prompt from job_messages')).rows).toEqual([{ prompt: 'And two' }]);
    await expect(served.docket('job', 'archive', created.id)).rejects.toMatchObject({ status: 409 });
    expect(await served.docketJson('job', 'cancel', created.id)).toMatchObject({ status: 'failed' });
    expect(await served.docketJson('job', 'archive', created.id)).toMatchObject({ status: 'archived' });
    expect(await served.docketJson('job', 'unarchive', created.id)).toMatchObject({ status: 'failed' });
    expect(await served.docketJson('job', 'delete', created.id, '--yes')).toEqual({ id: created.id, deleted: true });
    await expect(served.docket('job', 'show', created.id)).rejects.toThrow(`There is no job "${created.id}"`);
  });

  it('says what and whom a job waits for', async () => {
    await newProject();
    const { id } = await served.docketJson('job', 'create', 'Write one');
    await served.database.pool.query(
      `update jobs set phase = 'waiting', question = '{"text": "Which?", "choices": []}', wait_until = '2030-01-01' where id = $1`,
      [id],
    );
    wakeWatchers(served.database.pool, id);
    expect(await served.docket('job', 'show', id)).toMatch(/^waits for: +.*Which\?.* until 2030.*\nstarted by: +\w/m);
  });

  it('requires the project if there are several, and finds no job of another organization', async () => {
    const first = await newProject();
    const job = await buildJob(served.database.pool, first);
    await buildProject(served.database.pool, { organizationId: served.org });
    await expect(served.docket('job', 'create', 'x')).rejects.toMatchObject({
      message: expect.stringContaining('There are several projects.'),
      exitCode: 2,
    });
    served.env['DOCKET_PROJECT'] = first.id;
    expect(await served.docketJson('job', 'create', 'x')).toMatchObject({ status: 'active' });
    delete served.env['DOCKET_PROJECT'];
    await newProject();
    await expect(served.docket('job', 'show', job.id)).rejects.toThrow('There is no job');
  });

  it('asks for an unknown job once, however many jobs there are', async () => {
    const project = await newProject();
    await Promise.all(Array.from({ length: 101 }, () => buildJob(served.database.pool, project)));
    const asked = vi.spyOn(globalThis, 'fetch');
    await expect(served.docket('job', 'show', 'typo')).rejects.toThrow('There is no job "typo"');
    expect(asked).toHaveBeenCalledTimes(1);
    asked.mockRestore();
  });

  it('downloads a bundle', async () => {
    const job = await buildJob(served.database.pool, await newProject());
    const folder = temporaryDirectory();
    const file = join(folder, 'one.gz');
    expect(await served.docketJson('job', 'bundle', job.id, '--output', file)).toEqual({ id: job.id, file });
    expect((await collectJob(readBundle(file)))?.job.id).toBe(job.id);
    const nowhere = join(folder, 'none', 'one.gz');
    await expect(served.docket('job', 'bundle', job.id, '--output', nowhere)).rejects.toThrow(
      'cannot be used (ENOENT)',
    );
    expect(await readdir(folder)).toEqual(['one.gz']);
    await expect(served.docket('job', 'replay', job.id)).rejects.toThrow('in a Docket checkout');
  });

  it('prints the end of a cancelled job, and reports it in the exit code', async () => {
    await newProject();
    const { id } = await served.docketJson('job', 'create', 'Write one');
    await served.docket('job', 'cancel', id);
    await expect(served.docket('job', 'watch', id)).rejects.toMatchObject({
      message: expect.stringContaining('The job was cancelled.'),
      exitCode: 4,
    });
    expect(served.printed().join('\n')).toMatch(/^\d\d:\d\d:\d\d {2}queued$/m);
  });

  it('prints what came after a wait that is over, and stops at the one that is not', async () => {
    await newProject();
    const { id } = await served.docketJson('job', 'create', 'Write one', '--plan', 'review');
    const wait = (turn: number) =>
      createWorkerJobStore(served.database.pool).wait({
        jobId: id,
        turn,
        title: 'Plan',
        plan: `Plan ${turn}.`,
        question: null,
        days: 7,
      });
    const watched = async (exitCode: number, message = '') => {
      await expect(served.docket('job', 'watch', id)).rejects.toMatchObject({
        message: expect.stringContaining(message),
        exitCode,
      });
      return served.printed().join('\n');
    };
    await wait(1);
    const next = `Continue with "docket job approve ${id} --turn 1" or "docket job reject ${id} --turn 1".`;
    expect(await watched(5, next)).toContain('Plan 1.');
    await served.docket('job', 'message', id, 'Plan more');
    await wait(2);
    const printed = await watched(5);
    expect(printed).toMatch(/prompt: Plan more$/m);
    expect(printed).toContain('Plan 2.');
    await served.docket('job', 'message', id, 'Still more');
    await served.docket('job', 'cancel', id);
    expect(await watched(4)).toMatch(/prompt: Still more$/m);
  });
});

describe('a service whose connections break', () => {
  type Answer = (response: ServerResponse) => void;
  const key = `svc_${'A'.repeat(61)}`;
  const event = (seq: number, type: string, data: object) =>
    `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, turn: 1, step: 1, type, createdAt: '2026-01-01T00:00:00Z', data })}\n\n`;

  const watch = (status: string, answers: Answer[], ...more: string[]) =>
    docketOn(status, answers, ['job', 'watch', 'job_1', ...more]);

  /** Runs a command against a service that streams what the test scripts, over connections that break as told. */
  async function docketOn(status: string, answers: Answer[], args: string[]) {
    const lastIds: (string | undefined)[] = [];
    const job = {
      id: 'job_1',
      projectId: 'prj_1',
      status,
      prLink: 'https://github.com/acme/lamp/pull/1',
      details: {
        message: 'Done.',
        incomplete: null,
        failure: status === 'failed' ? { category: 'internal', title: 'It broke', remedy: 'Try again.' } : null,
      },
    };
    function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
      if (!/\/(?:events|bundle)$/.test(url))
        return void response
          .setHeader('Content-Type', 'application/json')
          .end(JSON.stringify(url.includes('/v1/jobs') ? { jobs: [job], nextCursor: null } : job));
      lastIds.push(headers['last-event-id']?.toString());
      const next = answers.shift();
      if (next === undefined) return void response.writeHead(204).end();
      next(response);
    }
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const env = {
      DOCKET_URL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
      DOCKET_API_KEY: key,
    };
    const result = await runDocket(args, env);
    return { ...result, lastIds };
  }

  const stream =
    (...events: string[]) =>
    (response: ServerResponse) =>
      void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(events.join(''));
  const cut =
    (...events: string[]) =>
    (response: ServerResponse) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(events.join(''), () => response.destroy());
    };
  const refused = (response: ServerResponse) =>
    void response.writeHead(503, { 'Content-Type': 'application/json' }).end('{"error": "Restarting."}');

  it('is resumed, with each event printed once, and the command ends with the pull request', async () => {
    const { out, error, code, lastIds } = await watch('completed', [
      cut(
        event(1, 'message', { text: 'Write one' }),
        event(2, 'tool-call', { toolName: 'write', input: { path: 'one.txt' } }),
      ),
      refused,
      stream(event(3, 'text', { text: 'I wrote\u001b[2J it.' }), event(4, 'usage', {})),
    ]);
    expect({ code, lastIds }).toEqual({ code: 0, lastIds: ['0', '2', '2', '4'] });
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => line.slice(10))).toEqual(
      expect.arrayContaining(['prompt: Write one', 'step 1: write one.txt', String.raw`step 1: I wrote\u001b[2J it.`]),
    );
    expect(lines.at(-1)).toBe('https://github.com/acme/lamp/pull/1');
    expect(error).toBe('The connection was lost; reconnecting.\n');
  });

  it('gets each event and the job printed as a line of JSON, and exit code 3 for a failed job', async () => {
    const { out, error, code } = await watch('failed', [stream(event(1, 'phase', { phase: 'running' }))], '--json');
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { seq: 1, data: { phase: 'running' } },
      { id: 'job_1', status: 'failed' },
    ]);
    expect({ error, code }).toEqual({ error: 'It broke. Try again.\n', code: 3 });
  });

  it('leaves no partial bundle when the connection breaks', async () => {
    const folder = temporaryDirectory();
    const half = (response: ServerResponse) => {
      response.writeHead(200, { 'Content-Type': 'application/gzip' });
      response.write('half of it', () => response.destroy());
    };
    const file = join(folder, 'one.gz');
    const { out, error, code } = await docketOn('active', [half], ['job', 'bundle', 'job_1', '--output', file]);
    expect({ out, code }).toEqual({ out: '', code: 1 });
    expect(error).toBe('The connection to Docket was lost. Run the command again.\n');
    expect(await readdir(folder)).toEqual([]);
  });

  it('ends the command when it refuses', async () => {
    const gone = (response: ServerResponse) =>
      void response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"error": "The job was not found."}');
    expect(await watch('active', [gone])).toMatchObject({ code: 1, out: '', error: 'The job was not found.\n' });
  });
});
