import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { answerParent } from '../support/answer-parent.ts';

// Koa that answers every request with the same bytes, and nothing else.
let headers: Record<string, string> = {};
let body = '';
const app = new Koa();
app.use((ctx) => {
  ctx.set(headers);
  ctx.body = body;
});
const server = createServer(app.callback());
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

answerParent({
  port: () => (server.address() as AddressInfo).port,
  answerWith(input: { headers: Record<string, string>; body: string }) {
    ({ headers, body } = input);
  },
});
