import { EventEmitter, once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createOpenAnswers } from '../../../../../api/http/streams/open-answers.ts';

function stage() {
  const looks: { ids: string[]; answer(valid: string[]): void }[] = [];
  const answers = createOpenAnswers({
    access: {
      valid: (ids) => new Promise((resolve) => looks.push({ ids, answer: (valid) => resolve(new Set(valid)) })),
    },
  });
  function open(holder: { keyId: string; sessionId?: string } | null) {
    const res = Object.assign(new EventEmitter(), { headersSent: true, destroy: () => res.emit('close') }) as any;
    const ctx = { req: {}, res, state: {} } as any;
    answers.track(ctx);
    const admit = (keyId: string, sessionId: string | null = null) =>
      answers.admit(ctx, { organizationId: 'org', keyId, sessionId });
    if (holder !== null) admit(holder.keyId, holder.sessionId ?? null);
    return { res, admit, ended: answers.accessEnded(ctx) };
  }
  return { looks, answers, open };
}

it('checks all open answers at once, by session if there is one, and ends those no longer valid', async () => {
  const { looks, answers, open } = stage();
  await answers.endRevoked();
  expect(looks).toEqual([]);
  const [first, second, signedIn] = [open({ keyId: 'a' }), open({ keyId: 'a' }), open({ keyId: 'a', sessionId: 's' })];
  const kept = open({ keyId: 'b' });
  const looking = answers.endRevoked();
  // a slow check is not started again
  await answers.endRevoked();
  expect(looks.map(({ ids }) => ids)).toEqual([['a', 's', 'b']]);
  looks[0]!.answer(['b', 's']);
  await looking;
  expect([first, second, signedIn, kept].map(({ ended }) => ended.aborted)).toEqual([true, true, false, false]);
  await new Promise((resolve) => first.res.once('close', resolve));
});

it('leaves alone what opens during a check, until the next one', async () => {
  const { looks, answers, open } = stage();
  open({ keyId: 'a' });
  const late = open(null);
  const looking = answers.endRevoked();
  late.admit('c');
  looks[0]!.answer(['a']);
  await looking;
  expect(late.ended.aborted).toBe(false);
  const next = answers.endRevoked();
  expect(looks[1]!.ids).toEqual(['a', 'c']);
  looks[1]!.answer(['a']);
  await next;
  expect(late.ended.aborted).toBe(true);
});

/** A server whose requests, all of one session, wait for `go`; the session ends once `count` of them have arrived. */
async function serveEnding(count: number, goOn: (res: ServerResponse) => void) {
  const access = { valid: async () => new Set<string>() };
  const answers = createOpenAnswers({ access });
  const arrived = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const seen: string[] = [];
  const server = createServer((req, res) => {
    const ctx = { req, res, state: {} } as any;
    answers.track(ctx);
    answers.admit(ctx, { organizationId: 'org', keyId: 'a', sessionId: 's' });
    req.on('error', () => undefined).resume();
    seen.push(req.method ?? '');
    if (seen.length === count) arrived.resolve();
    void go.promise.then(() => res.headersSent || goOn(res));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { answers, arrived: arrived.promise, go: go.resolve, port, server };
}

/** The status, and the text received so far. */
async function sent(port: number, method: string, body: 'none' | 'whole' | 'half') {
  const headers = body === 'none' ? {} : { 'content-length': '8' };
  const asked = request({ port, host: '127.0.0.1', method, headers });
  asked.on('error', () => undefined);
  if (body === 'none') asked.end();
  else asked.write(body === 'whole' ? '{"a": 1}' : '{"a"');
  const [response] = await once(asked, 'response');
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => (text += part));
  await new Promise((resolve) => response.on('error', () => undefined).once('close', resolve));
  return { status: response.statusCode, text, isWhole: response.complete };
}

it('never drops a request without a response: it is refused, or answered if it makes a change', async () => {
  const { answers, arrived, go, port, server } = await serveEnding(3, (res) => void res.end('{"done":true}'));
  const all = [sent(port, 'GET', 'none'), sent(port, 'POST', 'half'), sent(port, 'POST', 'whole')] as const;
  await arrived;
  await answers.endRevoked();
  const refused = await Promise.all([all[0], all[1]]);
  go();
  for (const { status, text } of refused) {
    expect(status).toBe(401);
    expect(JSON.parse(text)).toEqual({ error: expect.stringContaining('is no longer valid') });
  }
  expect(await all[2]).toEqual({ status: 200, text: '{"done":true}', isWhole: true });
  await answers.endRevoked();
  server.close();
});

it('cuts a change that starts streaming after its access has ended', async () => {
  const { answers, arrived, go, port, server } = await serveEnding(3, (res) => void res.write('one '));
  const streams = [sent(port, 'POST', 'whole'), sent(port, 'POST', 'whole')];
  const reading = sent(port, 'GET', 'none');
  await arrived;
  await answers.endRevoked();
  // the grace period is over when a read-only request is refused
  expect(await reading).toMatchObject({ status: 401 });
  go();
  const looking = setInterval(() => void answers.endRevoked(), 20);
  for (const stream of streams) expect(await stream).toMatchObject({ status: 200, isWhole: false });
  clearInterval(looking);
  server.close();
});
