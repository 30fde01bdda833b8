import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Resolve } from '../../../../lib/network/public-lookup.ts';
import { createWebhookSender } from '../../../../activities/network/webhook-sender.ts';
import { parseWebhookAddress } from '../../../../lib/inputs/webhook-address.ts';
import type { Attack } from '../stage/attack.ts';
import { answered, type Scene } from '../stage/scene.ts';

const privateUrls = [
  'http://127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  'http://localhost:PORT/',
  'http://[::1]:PORT/',
  'http://2130706433:PORT/',
  'http://user:pass@127.0.0.1:PORT/',
];

const webhookUrls = privateUrls.map((template): Attack => ({
  class: 34,
  name: `a webhook to ${template}`,
  async unprotected(scene) {
    const { port, hits } = await scene.server();
    const url = template.replace('PORT', String(port)).replace('https:', 'http:').replace('user:pass@', '');
    await fetch(url, { method: 'POST' });
    return hits.length > 0;
  },
  async product(scene) {
    const { port, hits } = await scene.server();
    const url = template.replace('PORT', String(port));
    await answered(send(url));
    return parseWebhookAddress(url, []).ok || hits.length > 0;
  },
  contained: 'https to public hosts only',
}));

const { signal } = new AbortController();
const send = (url: string, options: Partial<Parameters<typeof createWebhookSender>[0]> = {}) =>
  createWebhookSender({ allowedHosts: [], ...options }).send({ url, headers: {}, body: '{}', signal });

const webhooks: Attack[] = [
  {
    class: 34,
    name: 'a webhook whose name resolves to a private address when it is sent',
    async unprotected(scene) {
      const { port, hits } = await scene.server();
      // checked by its name only
      if (parseWebhookAddress('https://hooks.test/', []).ok) await fetch(`http://127.0.0.1:${port}/`);
      return hits.length > 0;
    },
    async product(scene) {
      const { port, hits } = await scene.server();
      const resolve: Resolve = (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
      await answered(send(`https://hooks.test:${port}/`, { resolve }));
      return hits.length > 0;
    },
    contained: 'the address is checked for the connection that is made',
  },
  {
    class: 34,
    name: 'a webhook that redirects to a private host',
    async unprotected(scene) {
      const { port, hits } = await scene.server();
      await fetch(`http://127.0.0.1:${await redirecting(scene, port)}/`);
      return hits.length > 0;
    },
    async product(scene) {
      const { port, hits } = await scene.server();
      const source = await redirecting(scene, port);
      await answered(send(`http://127.0.0.1:${source}/`, { allowedHosts: [`127.0.0.1:${source}`] }));
      return hits.length > 0;
    },
    contained: 'redirects are not followed',
  },
  {
    class: 34,
    name: 'a receiver that never answers',
    unprotected: async (scene) =>
      (await settlesWithin(3_000, fetch(`http://127.0.0.1:${await silent(scene)}/`))) === false,
    async product(scene) {
      const port = await silent(scene);
      const sent = send(`http://127.0.0.1:${port}/`, { allowedHosts: [`127.0.0.1:${port}`], timeoutMs: 300 });
      return (await settlesWithin(20_000, sent)) === false;
    },
    contained: '15 seconds for an answer',
  },
];

function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(false), ms);
    const settled = () => {
      clearTimeout(timer);
      done(true);
    };
    promise.then(settled, settled);
  });
}

async function serve(scene: Scene, answer: Parameters<typeof createServer>[1]): Promise<number> {
  const server = createServer(answer!).listen(0, '127.0.0.1');
  await once(server, 'listening');
  scene.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const silent = (scene: Scene) => serve(scene, () => {});
const redirecting = (scene: Scene, port: number) =>
  serve(scene, (_, response) => void response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end());

export const webhookAttacks: Attack[] = [...webhookUrls, ...webhooks];
