import { writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createWorkerHistoryStore } from '../../../db/for-worker/job-histories.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { packHistory, unpackHistory } from '../../../db/jobs/stored-history.ts';
import { createHistoryChores } from '../../../worker/chores/history-chores.ts';
import { createClosedExecutionReader } from '../../../worker/chores/history-export.ts';
import { failureOf, FailureType } from '../../../workflows/contract/failures.ts';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildKey } from '../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { runDocket } from '../../support/stack/docket-process.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const call = (name: string, input: object) => ({ name, input });

let database: TestDatabase;
let repository: TestRepository;
let folder: string;
let job: JobRow;
let bundle: string;
let api: ServedApi;
/** The environment of a command that calls the API. */
let served: NodeJS.ProcessEnv;
/** The prompt of each step, as the provider received it. */
let requests: { messages: unknown[] }[];

/** A job of two turns: the first completes, the second fails midway. Temporal's histories are deleted. */
beforeAll(async () => {
  folder = temporaryDirectory();
  database = await createTestDatabase();
  repository = await createTestRepository({ 'README.md': '# Lamp\n', 'old.txt': 'old\n', 'AGENTS.md': 'Be brief.\n' });
  await using model = await startScriptedModelServer();
  await using worker = await startTestWorker({ database, modelUrl: model.baseUrl });
  const { client, deps } = worker;
  await using _exporter = createHistoryChores({
    histories: createWorkerHistoryStore(database.pool),
    readClosedExecution: createClosedExecutionReader({ client, encryptionKeys: [] }),
    log: pino({ level: 'silent' }),
    keepDays: 0,
    everyMs: 20,
  });
  model.script(
    { text: 'I look.', toolCalls: [call('read', { path: 'README.md' }), call('read', { path: 'none.txt' })] },
    { toolCalls: [call('write', { path: 'one.txt', content: 'one\n' }), call('delete', { path: 'old.txt' })] },
    { toolCalls: [call('finish', { title: 'Write one', summary: 'Wrote one.' })] },
    { toolCalls: [call('edit', { path: 'one.txt', old: 'one', new: 'two' })] },
    { status: 400 },
  );
  const first = await worker.runJob({ prompt: 'Write one', repository: repository.path });
  expect(first.status).toBe('completed');
  job = await worker.followUp(first.id, 'Make it two');
  expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
  expect(model.violations).toEqual([]);
  requests = model.requests.map(({ body }) => body);
  for (const turn of [1, 2]) {
    const state = async () => (await asOperator(database.pool).history({ jobId: job.id, turn }))?.state;
    await vi.waitUntil(async () => (await state()) === 'exported', 90_000);
    const workflowExecution = { workflowId: jobWorkflowId(job.id, turn) };
    await client.workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution });
  }
  api = await serveApi(database.pool);
  const { key } = await buildKey(database.pool, { organizationId: (await deps.jobs.get(job.id))!.organizationId });
  const response = await fetch(`${api.url}/v2/agent/${job.projectId}/job/${job.id}/bundle`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${job.id}.docket.gz"`);
  served = { DOCKET_URL: api.url, DOCKET_API_KEY: key };
  bundle = join(folder, 'moved.gz');
  await writeFile(bundle, Buffer.from(await response.arrayBuffer()));
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await repository[Symbol.asyncDispose]();
});

async function replayJson(...args: string[]): Promise<any> {
  const { out, error, code } = await runDocket(['job', 'replay', bundle, ...args, '--json']);
  expect({ error, code }).toEqual({ error: '', code: 0 });
  return JSON.parse(out);
}

describe('docket job replay', () => {
  it('shows a job whose history Temporal has deleted, over HTTP', async () => {
    const { out, error, code } = await runDocket(['job', 'replay', job.id], served);
    expect({ error, code }).toEqual({ error: '', code: 0 });
    expect(out).toContain('Turn 1, completed');
    expect(out).toMatch(/history: \d+ events; today's workflow code makes the same decisions/);
    expect(out).toMatch(/^1 +read README\.md; read none\.txt +1 of 2 failed: .*none\.txt/m);
    expect(out).toMatch(/^2 +write one\.txt; delete old\.txt +ok +D old\.txt, A one\.txt/m);
    expect(out).toContain('Turn 2, failed');
    expect(out).toMatch(/^1 +edit one\.txt +ok +C one\.txt/m);
    const { title, remedy } = failureOf(FailureType.ModelRefused);
    expect(out).toContain(`Failed: ${title} (model_refused)`);
    expect(out).toContain(`What to do: ${remedy}`);
    expect(out).toContain(`docket job fork ${job.id} --turn 2 --step 1`);
  });

  it('names a file that does not exist', async () => {
    const { error, code } = await runDocket(['job', 'replay', 'none.docket.gz']);
    expect({ error: error.trim(), code }).toEqual({
      error: 'The file "none.docket.gz" cannot be used (ENOENT). Use another file.',
      code: 1,
    });
  });

  it('shows it from a bundle that was moved, without a service', async () => {
    const { job: told, turns } = await replayJson();
    expect(told).toMatchObject({ id: job.id, status: 'failed', failureCategory: 'model_refused' });
    expect(turns.map(({ replay }: any) => replay.verdict.matches)).toEqual([true, true]);
    expect(turns[0].replay.buildIds[0]).toContain('@temporalio/worker@1.24.0');
    expect(turns[0].steps.map(({ attempts }: any) => attempts)).toEqual([1, 1, 1]);
    for (const { modelMs, toolsMs, waitingMs } of turns[0].steps)
      for (const time of [modelMs, toolsMs, waitingMs]) expect(time).toBeGreaterThanOrEqual(0);
    expect(turns[1]).toMatchObject({
      status: 'failed',
      failure: { category: 'model_refused', remedy: expect.any(String) },
    });
    expect(turns[1].steps.at(-1)).toMatchObject({ step: 2, toolCalls: [], toolResults: null, modelFailures: 1 });
    const { out } = await runDocket(['job', 'replay', bundle, '--turn', '1']);
    expect(out).not.toContain('Turn 2');
  });

  it('shows the exact prompt of each step, and verifies it', { tags: 'slow' }, async () => {
    const places = [
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 1],
      [2, 2],
    ];
    for (const [index, [turn, step]] of places.entries()) {
      const { question } = await replayJson('--turn', String(turn), '--step', String(step));
      expect(question.match).toBe(turn === 2 && step === 2 ? 'unknown' : 'exact');
      const [system, ...rest] = requests[index]!.messages as { role: string; content: unknown }[];
      expect(system!.content).toBe(question.system);
      expect(question.system).toContain('Be brief.');
      const toldRoles = question.messages.flatMap(({ role, content }: any) =>
        role === 'tool' ? content.map(() => 'tool') : [role],
      );
      expect(rest.map(({ role }) => role)).toEqual(toldRoles);
    }
    const { out } = await runDocket(['job', 'replay', bundle, '--turn', '1', '--step', '2']);
    expect(out).toContain('verified: its hash matches');
    expect(out).toContain('-- user\nWrite one');
    expect(out).toMatch(/added +one\.txt/);
    expect(out).toContain('deleted file mode 100644');
    expect(out).toContain('+one');
  });

  it('reports a prompt that differs from the one that was sent', async () => {
    const changed = await rewritten((piece) =>
      piece.piece === 'turn' && piece.turn === 1 ? { ...piece, prompt: 'Write three' } : piece,
    );
    const { out } = await runDocket(['job', 'replay', changed, '--turn', '1', '--step', '2']);
    expect(out).toContain('its hash differs from the stored one');
  });

  it('shows what a single step changed, even without the repository', async () => {
    const here = await replayJson('--turn', '2', '--step', '1');
    expect(here.diff).toMatchObject({ files: [{ path: 'one.txt', change: 'changed' }] });
    expect(here.diff.patch).toContain('-one\n+two\n');
    expect(here.diff.patch).not.toContain('old.txt');
    const elsewhere = await rewritten((piece) =>
      piece.piece === 'job' ? { ...piece, repository: 'https://github.com/acme/lamp' } : piece,
    );
    const away = await runDocket(['job', 'replay', elsewhere, '--turn', '2', '--step', '1', '--json']);
    expect(JSON.parse(away.out).diff).toEqual(here.diff);
  });

  it('names the event at which today’s code decides differently', { tags: 'slow' }, async () => {
    const changed = await rewritten(async (piece) => {
      if (piece.piece !== 'history' || piece.turn !== 1) return piece;
      const history = await unpackHistory(Buffer.from(piece.history, 'base64'));
      const json = historyToJSON(history).replaceAll('"publish"', '"announce"');
      const damaged = await packHistory(historyFromJSON(JSON.parse(json)));
      return { ...piece, history: damaged.toString('base64') };
    });
    const { out } = await runDocket(['job', 'replay', changed, '--json']);
    const [{ replay }, second] = JSON.parse(out).turns;
    expect(second.replay.verdict.matches).toBe(true);
    expect(replay.verdict).toMatchObject({ matches: false, run: 1, problem: expect.stringContaining("'announce'") });
    const announced = replay.verdict.events.find(({ subject }: any) => subject === 'announce');
    expect(announced).toMatchObject({ type: 'ActivityTaskScheduled', id: expect.any(Number) });
    const text = (await runDocket(['job', 'replay', changed])).out;
    expect(text).toContain("today's workflow code no longer matches it");
    expect(text).toContain(`event ${announced.id} (ActivityTaskScheduled announce)`);
  });

  it(
    'refuses a file that is not a bundle, a truncated one and a missing one, with one sentence',
    { tags: 'slow' },
    async () => {
      const whole = await readFile(bundle);
      const files: [string, Buffer, string][] = [
        ['cut.gz', whole.subarray(0, whole.length / 2), 'truncated'],
        ['cut-lines.gz', gzipSync(gunzipSync(whole).subarray(0, 5_000)), 'truncated'],
        ['text.txt', Buffer.from('hello'), 'not a job bundle'],
        ['other.gz', gzipSync('{"a": 1}\n'), 'not a job bundle'],
        ['newer.gz', gzipSync('{"format": "docket-job-bundle", "version": 9}\n'), 'newer version'],
      ];
      for (const [name, content, words] of files) {
        const path = join(folder, name);
        await writeFile(path, content);
        const { code, out, error } = await runDocket(['job', 'replay', path]);
        expect({ name, code, out }).toEqual({ name, code: 1, out: '' });
        expect(error).toMatch(/^[^\n]+\n$/);
        expect(error).toContain(words);
      }
      const damaged = await rewritten((piece) =>
        piece.piece === 'history'
          ? { ...piece, history: `${piece.history.slice(0, 40)}AAAA${piece.history.slice(44)}` }
          : piece,
      );
      const unreadable = await runDocket(['job', 'replay', damaged]);
      expect(unreadable).toMatchObject({
        code: 1,
        out: '',
        error: expect.stringMatching(/^The history of turn 1 is damaged\. Download.*\n$/),
      });
      const malformed = await rewritten((piece) =>
        piece.piece === 'step' && piece.response !== null
          ? { ...piece, response: { ...piece.response, content: [{ type: 'nonsense' }] } }
          : piece,
      );
      expect(await runDocket(['job', 'replay', malformed, '--turn', '1', '--step', '2'])).toMatchObject({
        code: 1,
        out: '',
        error: 'The bundle is damaged. Download it again with "docket job bundle".\n',
      });
      const directory = await runDocket(['job', 'replay', folder]);
      expect(directory).toMatchObject({
        code: 1,
        error: `The file "${folder}" cannot be used (EISDIR). Use another file.\n`,
      });
      const unknown = await runDocket(['job', 'replay', 'job_none'], served);
      expect(unknown).toMatchObject({
        code: 1,
        error: 'There is no job "job_none"; "docket job list" shows the newest.\n',
      });
      const step = await runDocket(['job', 'replay', bundle, '--step', '9']);
      expect(step).toMatchObject({ code: 1, error: 'Turn 2 has no step 9; it has steps 1 to 2.\n' });
      const turn = await runDocket(['job', 'replay', bundle, '--turn', '9']);
      expect(turn.error).toBe('The job has no turn 9; it has turns 1 to 2.\n');
    },
  );
});

it('docket job bundle writes the same file, without a key or token', async () => {
  const output = join(folder, 'own.gz');
  const made = await runDocket(['job', 'bundle', job.id, '--output', output], served);
  expect(made).toMatchObject({ code: 0, error: '' });
  const nowhere = join(folder, 'none', 'own.gz');
  const refused = await runDocket(['job', 'bundle', job.id, '--output', nowhere], served);
  expect(refused).toMatchObject({
    code: 1,
    error: `The file "${nowhere}" cannot be used (ENOENT). Use another file.\n`,
  });
  const [own, downloaded] = [await readFile(output), await readFile(bundle)].map((file) => gunzipSync(file).toString());
  expect(own).toBe(downloaded);
  expect(own).not.toMatch(/model-key-0123456789|svc_|digest|idempotency/);
});

async function rewritten(change: (piece: any) => unknown): Promise<string> {
  const lines = gunzipSync(await readFile(bundle))
    .toString()
    .trimEnd()
    .split('\n');
  const changed = await Promise.all(lines.map(async (line) => JSON.stringify(await change(JSON.parse(line)))));
  const path = join(folder, `changed-${Math.random()}.gz`);
  await writeFile(path, gzipSync(`${changed.join('\n')}\n`));
  return path;
}
