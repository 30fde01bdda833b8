import type { ClientOptions } from './client.ts';
import { stringIn, valueIn } from './unknown-fields.ts';

/** Digests in progress at once: each is a round trip to the browser's own thread. */
const batch = 256;

/**
 * Creates a `fetch` that sends requests with a key, and without cookies. When the server requires a proof of work (status 428), it solves one
 * challenge for all requests that wait, with the response of a CAPTCHA if one is given, and repeats them with the
 * solution. It sends the same one until the server requires another.
 */
export function createProvenFetch({
  baseUrl,
  apiKey,
  captcha,
}: Pick<ClientOptions, 'baseUrl' | 'apiKey' | 'captcha'>): typeof fetch {
  const root = baseUrl.replace(/(?<!\/)\/+$/, '');
  let proof: string | null = null;
  let renewing: Promise<boolean> | null = null;

  async function solve(): Promise<string | null> {
    const response = await fetch(`${root}/discovery/v1/challenge`, {
      method: 'POST',
      credentials: 'omit',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(captcha === undefined ? {} : { captcha: await captcha() }),
    });
    const answer: unknown = response.ok ? await response.json() : null;
    const [challenge, bits] = [stringIn(answer, 'challenge'), valueIn(answer, 'bits')];
    if (challenge === null || typeof bits !== 'number') return null;
    if (bits === 0) return `${challenge}.0`;
    // browsers compute digests on pages that were loaded over https only
    return 'subtle' in crypto ? solutionOf(challenge, bits) : null;
  }

  /** Obtains a proof for all requests that wait for one, and returns whether there is one. */
  async function renew(): Promise<boolean> {
    const solved = await solve();
    proof = solved ?? proof;
    return solved !== null;
  }

  return async (input, init) => {
    const send = () => {
      const headers = new Headers(init?.headers);
      headers.set('Authorization', `Bearer ${apiKey}`);
      if (proof !== null) headers.set('X-Proof-Of-Work', proof);
      return fetch(input, { ...init, credentials: 'omit', headers });
    };
    const sent = proof;
    const response = await send();
    if (response.status !== 428) return response;
    // another request may have obtained a proof while this one was on its way
    if (proof !== sent) return send();
    renewing ??= renew().finally(() => (renewing = null));
    return (await renewing) ? send() : response;
  };
}

/** Returns `{challenge}.{nonce}`, whose SHA-256 digest begins with `bits` zero bits. */
async function solutionOf(challenge: string, bits: number): Promise<string> {
  const encoder = new TextEncoder();
  for (let first = 0; ; first += batch) {
    const texts = Array.from({ length: batch }, (_, at) => `${challenge}.${first + at}`);
    const digests = await Promise.all(texts.map((text) => crypto.subtle.digest('SHA-256', encoder.encode(text))));
    const found = digests.findIndex((digest) => Math.clz32(new DataView(digest).getUint32(0)) >= bits);
    const solution = texts[found];
    if (solution !== undefined) return solution;
  }
}
