import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../db/caller.ts';
import type { AccessStore } from '../db/service/access.ts';
import type { AppMiddleware } from './app-context.ts';

export interface OpenAnswers {
  /** Knows every answer of this process from its request to its last byte. */
  track: AppMiddleware;
  /** Names whom an answer is for, as authentication found. */
  admit(request: IncomingMessage, caller: Caller): void;
  /** Aborted when the key or session of the request has ended; the connection is cut a moment later. */
  accessEnded(request: IncomingMessage): AbortSignal;
  lookEveryMs: number;
  /** Ends the answers whose key, session or organization has ended. One query for all of them. */
  endRevoked(): Promise<void>;
}

interface OpenAnswer {
  response: ServerResponse;
  /** The session, or the key where there is none; null before authentication. */
  holder: string | null;
  ended: AbortController;
}

/** With the time for which a verified key is taken for valid, and the last words, a revocation ends all within 5 seconds. */
const lookEveryMs = 1_000;

/** What an answer may still say after its access has ended. */
const lastWordsMs = 500;

/** Access is granted to a request and looked at again for as long as its answer lasts, whatever route writes it. */
export function createOpenAnswers({ access }: { access: Pick<AccessStore, 'valid'> }): OpenAnswers {
  const open = new Map<IncomingMessage, OpenAnswer>();
  let isLooking = false;

  function end({ response, ended }: OpenAnswer): void {
    ended.abort();
    setTimeout(() => response.destroy(), lastWordsMs).unref();
  }

  async function look(): Promise<void> {
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
      open.set(ctx.req, { response: ctx.res, holder: null, ended: new AbortController() });
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
