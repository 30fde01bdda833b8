import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../../db/caller.ts';
import type { AccessStore } from '../../../db/for-service/access.ts';
import { createInFlight } from '../../../lib/in-flight.ts';
import type { AppContext } from '../app-context.ts';
import { unauthorized } from '../errors.ts';
import type { RequestWatch } from '../request-watch.ts';

export interface OpenAnswers {
  /** Tracks every response of this process from its request to its last byte. */
  track: RequestWatch;
  /** Records the authenticated caller of a request. */
  admit(ctx: AppContext, caller: Caller): void;
  /** Returns a signal that aborts when the key or session of the request ends. A stream is cut shortly afterwards. */
  accessEnded(ctx: AppContext): AbortSignal;
  checkEveryMs: number;
  /** Ends the responses whose key, session or organization has ended, with a single query for all of them. */
  endRevoked(): Promise<void>;
}

export interface OpenAnswer {
  request: IncomingMessage;
  response: ServerResponse;
  /** Id of the session, or of the key when there is no session; null before authentication. */
  holder: string | null;
  hasEnded: boolean;
  /** Null until a route asks for its signal, which most do not. */
  ended: AbortController | null;
}

/**
 * Interval between checks. Together with the cache time of a verified key and the grace period, a revocation ends all
 * responses within 5 seconds.
 */
const checkEveryMs = 1_000;

/** Grace period in which a response may still end normally after its access has ended. */
const lastWordsMs = 500;

const accessHasEnded = unauthorized(
  'The key or session of this request is no longer valid. Sign in again, or use another key.',
);

/** Tracks open responses and rechecks the access of each until it is complete, whichever route writes it. */
export function createOpenAnswers({ access }: { access: Pick<AccessStore, 'valid'> }): OpenAnswers {
  const open = createInFlight<OpenAnswer>();
  let isChecking = false;

  function end(answer: OpenAnswer): void {
    answer.hasEnded = true;
    answer.ended?.abort();
    setTimeout(() => stop(answer), lastWordsMs).unref();
  }

  /**
   * Cuts a stream, and refuses a request without a response if it is a read or still arriving. A write that has fully
   * arrived gets its regular response, and a response that is already complete is delivered.
   */
  function stop({ request, response }: OpenAnswer): void {
    if (response.writableEnded) return;
    if (response.headersSent) response.destroy();
    else if (isRead(request) || !request.complete) refuse(response);
  }

  async function checkAccess(): Promise<void> {
    // a write may have started to stream its response in the meantime
    for (const answer of open.list()) if (answer.hasEnded && answer.response.headersSent) stop(answer);
    // listed before the query, which does not cover requests admitted while it runs
    const held = open
      .list()
      .flatMap((answer) => (answer.holder === null || answer.hasEnded ? [] : [{ answer, holder: answer.holder }]));
    if (held.length === 0) return;
    const valid = await access.valid([...new Set(held.map(({ holder }) => holder))]);
    for (const { answer, holder } of held) if (!valid.has(holder)) end(answer);
  }

  return {
    checkEveryMs,

    track({ req: request, res: response, state }) {
      state.answer = { request, response, holder: null, hasEnded: false, ended: null };
      return open.add(state.answer);
    },

    admit({ state: { answer } }, { keyId, sessionId }) {
      if (answer !== undefined) answer.holder = sessionId ?? keyId;
    },

    accessEnded({ state: { answer } }) {
      if (answer === undefined || answer.hasEnded) return AbortSignal.abort();
      return (answer.ended ??= new AbortController()).signal;
    },

    async endRevoked() {
      if (isChecking) return;
      isChecking = true;
      try {
        await checkAccess();
      } finally {
        isChecking = false;
      }
    },
  };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Sends 401 and closes the connection. The rest of a body that is still arriving is not read. */
function refuse(response: ServerResponse): void {
  const body = JSON.stringify({ error: accessHasEnded.message });
  response.writeHead(accessHasEnded.status, {
    ...accessHasEnded.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  response.end(body);
}
