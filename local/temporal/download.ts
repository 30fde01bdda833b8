import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { getCACertificates } from 'node:tls';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { messageOf, StartError } from '../start-error.ts';
import { megabytes, showProgress, type Output } from './terminal.ts';
import { readVariables } from '../../lib/config/read-variables.ts';
import { codeOf } from '../../lib/error-code.ts';
import { proxiesOf, proxyVariables } from '../../lib/network/proxies.ts';

/** Far larger than any program that is downloaded. */
const maxFileBytes = 500_000_000;
const maxJsonBytes = 1_000_000;
const totalMs = 20 * 60_000;

export interface DownloadContext extends Output {
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Maximum time without data from the server. */
  silenceMs?: number;
}

/** Reports whether `DOCKET_DOWNLOADS` allows downloads. Throws StartError for any value but on and off. */
export function mayDownload(env: NodeJS.ProcessEnv): boolean {
  const value = env['DOCKET_DOWNLOADS'] || 'on';
  if (value !== 'on' && value !== 'off') throw new StartError('DOCKET_DOWNLOADS must be on or off.');
  return value === 'on';
}

/** Reads a small JSON document. Throws StartError with a clause that says what went wrong. */
export async function downloadJson(url: string, context: DownloadContext): Promise<unknown> {
  return receive(url, context, async ({ body }) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of limited(body ?? [], maxJsonBytes)) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString());
  });
}

/** Writes the response to `target` and returns its SHA-256, in hex. Throws StartError with a clause that says what went wrong. */
export async function downloadFile(
  url: string,
  { target, title, ...context }: DownloadContext & { target: string; title: string },
): Promise<string> {
  return receive(url, context, async (response) => {
    const total = Number(response.headers.get('content-length')) || null;
    let received = 0;
    using _progress = showProgress(context, () => ({
      text: `${title}: ${megabytes(received)}${total === null ? '' : ` of ${megabytes(total)}`}`,
      fraction: total === null ? null : received / total,
    }));
    const hash = createHash('sha256');
    const counted = async function* (body: AsyncIterable<Uint8Array>) {
      for await (const chunk of limited(body, maxFileBytes)) {
        received += chunk.length;
        hash.update(chunk);
        yield chunk;
      }
    };
    if (response.body !== null) await pipeline(response.body, counted, createWriteStream(target));
    return hash.digest('hex');
  });
}

async function* limited(body: AsyncIterable<Uint8Array> | Uint8Array[], maxBytes: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    if (received > maxBytes) throw new StartError(`it is larger than ${megabytes(maxBytes)}`);
    yield chunk;
  }
}

/** Requests a URL through the proxy of the environment, if there is one. */
async function receive<T>(url: string, context: DownloadContext, read: (response: Response) => Promise<T>): Promise<T> {
  const { env, signal, silenceMs = 15_000 } = context;
  if (!mayDownload(env)) throw new StartError('DOCKET_DOWNLOADS is off');
  // those of the operating system, too, as git and Go do: a proxy of a company often has its own certificate
  const ca = [...getCACertificates('default'), ...getCACertificates('system')];
  const connect = { timeout: Math.min(silenceMs, 5_000), ca };
  const { http, https, exceptions } = proxiesOf(readVariables(proxyVariables, env));
  const agent = new EnvHttpProxyAgent({
    httpProxy: http ?? '',
    httpsProxy: https ?? '',
    noProxy: exceptions,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    connect,
    proxyTls: connect,
    requestTls: connect,
  });
  const deadline = AbortSignal.timeout(totalMs);
  const { host } = new URL(url);
  try {
    const response = await fetch(url, {
      dispatcher: agent,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    if (!response.ok) throw new StartError(`${host} answers ${response.status}`);
    return await read(response);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StartError) throw error;
    throw new StartError(`${host} cannot be reached, or the connection failed (${reasonOf(error)})`, { cause: error });
  } finally {
    await agent.destroy();
  }
}

/** Returns the reason of the innermost error. fetch reports only that it failed. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.cause !== undefined) return reasonOf(error.cause);
  const code = codeOf(error);
  // the response of a proxy has no code of its own
  return code === null || /^UND_ERR_(ABORTED|INVALID_ARG)$/.test(code) ? messageOf(error) : code;
}
