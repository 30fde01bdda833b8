import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { testPepper } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { answerOf, endingOf, openStream } from '../../support/sdk-clients/open-stream.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { buildIndexedSite, question } from './site.ts';

it(
  'a process that shuts down lets answers finish, and ends the others with an error and a finish',
  { tags: 'slow' },
  async () => {
    await using database = await createTestDatabase();
    await using model = await startScriptedModelServer();
    const docs = await buildIndexedSite(database.pool);
    const child = spawn(process.execPath, ['api/main.ts'], {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: '0',
        DATABASE_URL: database.url,
        DOCKET_KEY_PEPPER: testPepper,
        DOCKET_ASSISTANT_MODEL: 'compatible/x',
        OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
        TEMPORAL_ADDRESS: '127.0.0.1:1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await using cleanup = new AsyncDisposableStack();
    const exited = once(child, 'exit');
    cleanup.defer(() => void child.kill('SIGKILL'));
    let port = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const { msg, port: found } = JSON.parse(line);
      if (msg !== 'api ready') continue;
      port = found;
      break;
    }
    child.stdout.resume();

    const address = `http://127.0.0.1:${port}/discovery/v2/assistant/${docs.site.domain}/message`;
    const ask = async (more: Record<string, unknown> = {}) => {
      model.script({ text: ['one ', 'two ', 'three'], stall: 3 });
      const stream = await openStream(address, { key: docs.assistantKey, json: question('retry limit?', more) });
      await stream.until('two');
      return { stream, call: model.requests.at(-1)! };
    };
    const brief = await ask();
    const endless = await ask();
    const recorded = await ask({ id: 'chat', resumable: true });

    child.kill('SIGTERM');
    brief.call.release();
    expect(await brief.stream.ended).toBe('complete');
    expect([endingOf(brief.stream.text()), answerOf(brief.stream.text())]).toEqual(['finished', 'one two three']);

    for (const { stream, call } of [endless, recorded]) {
      expect(await stream.ended).toBe('complete');
      expect([endingOf(stream.text()), answerOf(stream.text())]).toEqual(['failed', 'one two ']);
      expect(stream.text()).toContain('is restarting');
      expect(await call.closed).toBe('aborted');
    }
    expect(await exited).toEqual([0, null]);
    const { rows } = await database.pool.query('select from replies where ended_at is not null');
    expect(rows).toHaveLength(1);
  },
);
