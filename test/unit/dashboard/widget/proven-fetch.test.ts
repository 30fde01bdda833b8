import { afterEach, expect, it, vi } from 'vitest';
import { createProvenFetch } from '../../../../dashboard/widget/proven-fetch.ts';

afterEach(() => vi.unstubAllGlobals());

/** Replaces `fetch` by a server that requires a proof. It refuses the request for `/slow` when `release` is called. */
function startServer() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let challenges = 0;
  vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => {
    if (url.endsWith('/challenge')) {
      challenges += 1;
      return Response.json({ challenge: `challenge-${challenges}`, bits: 0 });
    }
    const headers = new Headers(init?.headers);
    if (headers.get('Authorization') !== 'Bearer svc_dsc_x' || init?.credentials !== 'omit')
      return new Response('no key, or cookies', { status: 401 });
    const proof = headers.get('X-Proof-Of-Work');
    if (url === '/slow' && proof === null) await released;
    return new Response(proof, { status: proof === null || proof === init?.body ? 428 : 200 });
  });
  return { release, challenges: () => challenges };
}

const options = { baseUrl: 'http://docket.test', apiKey: 'svc_dsc_x' };

it('solves one challenge for requests that are refused before and after it is solved', async () => {
  const server = startServer();
  const provenFetch = createProvenFetch(options);
  const late = provenFetch('/slow');
  const early = await Promise.all([provenFetch('/fast'), provenFetch('/fast')]);
  server.release();
  expect(await Promise.all([...early, await late].map((response) => response.text()))).toEqual(
    Array.from({ length: 3 }, () => 'challenge-1.0'),
  );
  expect(server.challenges()).toBe(1);
});

it('solves another challenge when the server refuses the proof that a request was sent with', async () => {
  const server = startServer();
  const provenFetch = createProvenFetch(options);
  await provenFetch('/fast');
  const outdated = 'challenge-1.0';
  const response = await provenFetch('/fast', { method: 'POST', body: outdated });
  expect([response.status, await response.text(), server.challenges()]).toEqual([200, 'challenge-2.0', 2]);
});
