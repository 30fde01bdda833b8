import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../db/caller.ts';
import type { AccessStore } from '../../db/for-service/access.ts';
import type { AppMiddleware } from './app-context.ts';
import { unauthorized } from './errors.ts';

export interface OpenAnswers {
  /** Knows every answer of this process from its request to its last byte. */
  track: AppMiddleware;
  /** Names whom an answer is for, as authentication found. */
  admit(request: IncomingMessage, caller: Caller): void;
  /** Aborted when the key or session of the request has ended; a stream is cut a moment later. */
  accessEnded(request: IncomingMessage): AbortSignal;
  lookEveryMs: number;
  /** Ends the answers whose key, session or organization has ended. One query for all of them. */
  endRevoked(): Promise<void>;
}

interface OpenAnswer {
  request: IncomingMessage;
  response: ServerResponse;
  /** The session, or the key where there is none; null before authentication. */
  holder: string | null;
  ended: AbortController;
}

/** With the time for which a verified key is taken for valid, and the last words, a revocation ends all within 5 seconds. */
const lookEveryMs = 1_000;

/** How long an answer may still take to end by itself after its access has ended. */
const lastWordsMs = 500;

const accessHasEnded = unauthorized(
  'The key or the session of this request has ended. Sign in again, or use another key.',
);

/** Access is granted to a request and looked at again for as long as its answer lasts, whatever route writes it. */
export function createOpenAnswers({ access }: { access: Pick<AccessStore, 'valid'> }): OpenAnswers {
  const open = new Map<IncomingMessage, OpenAnswer>();
  let isLooking = false;

  function end(answer: OpenAnswer): void {
    answer.ended.abort();
    setTimeout(() => stop(answer), lastWordsMs).unref();
  }

  /**
   * Cuts a stream and refuses what has no answer yet. A change that arrived whole is answered as it turns out, and an answer
   * that is complete goes its way.
   */
  function stop({ request, response }: OpenAnswer): void {
    if (response.writableEnded) return;
    if (response.headersSent) response.destroy();
    else if (isRead(request) || !request.complete) refuse(response);
  }

  async function look(): Promise<void> {
    // a change may have begun to answer with a stream since
    for (const answer of open.values()) if (answer.ended.signal.aborted && answer.response.headersSent) stop(answer);
    // who is let in while the query runs was not asked for
    const held = [...open.values()].flatMap((answer) =>
      answer.holder === null || answer.ended.signal.aborted ? [] : [{ answer, holder: answer.holder }],
    );
    if (held.length === 0) return;
    const valid = await access.valid([...new Set(held.map(({ holder }) => holder))]);
    for (const { answer, holder } of held) if (!valid.has(holder)) end(answer);
  }

  return {
    lookEveryMs,

    track(ctx, next) {
      open.set(ctx.req, { request: ctx.req, response: ctx.res, holder: null, ended: new AbortController() });
      ctx.res.once('close', () => open.delete(ctx.req));
      return next();
    },

    admit(request, { keyId, sessionId }) {
      const answer = open.get(request);
      if (answer !== undefined) answer.holder = sessionId ?? keyId;
    },

    accessEnded(request) {
      return open.get(request)?.ended.signal ?? AbortSignal.abort();
    },

    async endRevoked() {
      if (isLooking) return;
      isLooking = true;
      try {
        await look();
      } finally {
        isLooking = false;
      }
    },
  };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The rest of a body that is still on its way is not read. */
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
