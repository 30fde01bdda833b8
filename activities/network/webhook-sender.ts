import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isAllowedHost, parseWebhookAddress } from '../../lib/inputs/webhook-address.ts';
import { answerTo } from '../../lib/network/answer-to.ts';
import { createPublicLookup, PrivateAddressError, type Resolve } from '../../lib/network/public-lookup.ts';
import { codeOf } from '../../lib/error-code.ts';

interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

export interface WebhookAnswer {
  statusCode: number;
  retryAfter: string | null;
  /** The first part of the body. */
  text: string;
}

/** The receiver did not respond; the message is a sentence for the person who runs it. */
export class WebhookSendError extends Error {
  override name = 'WebhookSendError';
}

export interface WebhookSenderOptions {
  /** `host` or `host:port`: may be private, and may be reached without TLS. */
  allowedHosts: readonly string[];
  timeoutMs?: number;
  resolve?: Resolve;
}

const maxBodyBytes = 16 * 1024;

export type WebhookSender = ReturnType<typeof createWebhookSender>;

/** Creates the sender of messages to addresses that customers configure. Private ones are refused unless allowed. */
export function createWebhookSender(options: WebhookSenderOptions) {
  const { allowedHosts, timeoutMs = 15_000, resolve } = options;
  const publicLookup = createPublicLookup(resolve);

  return {
    /** Posts once, without following redirects. Throws WebhookSendError, or the signal's reason when it aborts. */
    async send({ url, headers, body, signal }: WebhookRequest): Promise<WebhookAnswer> {
      const parsed = parseWebhookAddress(url, allowedHosts);
      if (!parsed.ok) throw new WebhookSendError(parsed.problem);
      const address = new URL(parsed.url);
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        return await post({
          address,
          body,
          settings: {
            method: 'POST',
            headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
            agent: false, // a separate connection, so that the checked address is the one it uses
            signal: AbortSignal.any([signal, timeout]),
            maxHeaderSize: maxBodyBytes,
            ...(isAllowedHost(address, allowedHosts) ? {} : { lookup: publicLookup }),
          },
        });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (timeout.aborted)
          throw new WebhookSendError(`The receiver did not answer within ${timeoutMs / 1000} seconds.`);
        throw new WebhookSendError(sentenceOf(error), { cause: error });
      }
    },
  };
}

async function post({ address, settings, body }: { address: URL; settings: RequestOptions; body: string }) {
  const start = address.protocol === 'https:' ? requestHttps : requestHttp;
  const response = await answerTo(start(address, settings).end(body));
  return {
    statusCode: response.statusCode ?? 0,
    retryAfter: response.headers['retry-after'] ?? null,
    text: await beginningOf(response),
  };
}

/** Returns the body received until its end, the size cap or the time limit. The status counts in any case. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      chunks.push(Buffer.from(chunk));
      size += chunks.at(-1)?.length ?? 0;
      if (size >= maxBodyBytes) break; // leaving the loop closes the connection
    }
  } catch {
    // the receiver closed the connection or was too slow
  }
  return Buffer.concat(chunks).subarray(0, maxBodyBytes).toString();
}

const certificateCode = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/;

function sentenceOf(error: unknown): string {
  if (error instanceof PrivateAddressError) {
    return "The webhook's host resolves to a private address, which is not allowed.";
  }
  const code = codeOf(error) ?? '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return "The webhook's host could not be resolved.";
  if (code === 'ECONNREFUSED') return 'The receiver refused the connection.';
  if (certificateCode.test(code)) return `The receiver's certificate is not valid (${code}).`;
  return `The connection to the receiver failed${code === '' ? '' : ` (${code})`}.`;
}

/** Node combines the failures of several addresses into one error; the first code is reported. */
