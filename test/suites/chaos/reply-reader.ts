import { setTimeout as delay } from 'node:timers/promises';
import { answerOf, endingOf, openStream, withoutKeepAlive } from '../../support/sdk-clients/open-stream.ts';
import type { OpenStream } from '../../support/sdk-clients/open-stream.ts';
import type { ReplyPlan } from './plans/reply-plans.ts';

export interface ReplyService {
  baseUrl: string;
  domain: string;
  assistantKey: string;
  /** Kills of the API that have started so far. */
  killsBegun(): number;
  /** Those after which it serves again. */
  killsEnded(): number;
  /** A stream without data for this long hangs. */
  hangMs: number;
}

export interface ReplyResult {
  plan: ReplyPlan;
  /** How it ended: by the stream's own account, or that it could not be resumed. */
  ending: 'finished' | 'failed' | 'left' | 'cut off';
  resumes: number;
  /** Whether the API was killed while the reply ran. */
  wasKilled: boolean;
  maxSilenceMs: number;
  violations: string[];
}

const patienceMs = 120_000;

/** Asks a question, leaves and returns as planned, and reports what was wrong with the answer. */
export async function readReply(service: ReplyService, plan: ReplyPlan): Promise<ReplyResult> {
  const { baseUrl, domain, assistantKey } = service;
  const address = `${baseUrl}/discovery/${plan.protocol}/assistant/${domain}/message`;
  const chatId = `chaos-${plan.index}`;
  const violations: string[] = [];
  const seen: string[] = [];
  const killsBefore = service.killsEnded();
  const isHit = () => service.killsBegun() > killsBefore;
  let maxSilenceMs = 0;
  let resumes = 0;
  let token = '';

  /** Reads a stream to its end, or as far as planned. */
  async function read(position: number): Promise<OpenStream> {
    let lastMs = Date.now();
    const noteSilence = () => {
      maxSilenceMs = Math.max(maxSilenceMs, Date.now() - lastMs);
      lastMs = Date.now();
    };
    const onData = (part: Buffer) => {
      if (!['\n', ': keep-alive\n\n'].includes(part.toString('utf8'))) noteSilence();
    };
    const options = { key: assistantKey, leaveAfter: plan.cuts[position] ?? Infinity, onData };
    const open = () =>
      position === 0
        ? openStream(address, { ...options, json: questionOf(plan, chatId) })
        : openStream(`${address}/${chatId}/stream`, { ...options, headers: { 'x-resume-token': token } });
    const stream = await untilServed(() => {
      lastMs = Date.now();
      return Promise.race([open(), noHead(service.hangMs)]);
    });
    const watch = setInterval(() => {
      if (Date.now() - lastMs < service.hangMs) return;
      violations.push(`nothing came for ${service.hangMs} ms`);
      stream.leave();
    }, 500);
    await stream.ended;
    clearInterval(watch);
    noteSilence();
    return stream;
  }

  function result(ending: ReplyResult['ending']): ReplyResult {
    const whole = seen.at(-1) ?? '';
    for (const part of seen)
      if (!whole.startsWith(part)) violations.push('what was resumed is not what was seen before');
    const answer = answerOf(whole);
    const wasKilled = isHit();
    if (!plan.text.startsWith(answer)) violations.push(`words are missing or doubled: ${answer}`);
    const isSound = plan.behaviour === 'whole' || plan.behaviour === 'slow';
    if (ending === 'finished' && (!isSound || answer !== plan.text)) violations.push(`finished with a part: ${answer}`);
    if (ending === 'failed' && isSound && !wasKilled) violations.push('failed without a cause');
    return { plan, ending, resumes, wasKilled, maxSilenceMs, violations };
  }

  for (let position = 0; ; position += 1) {
    const stream = await read(position);
    if (position > 0) resumes += 1;
    if (stream.status === 204) {
      // there is nothing to resume: everything has arrived
      const ending = endingOf(seen.at(-1) ?? '');
      if (ending === 'open') violations.push('a part is lost: there is nothing to resume');
      return result(ending === 'open' ? 'cut off' : ending);
    }
    if (stream.status !== 200) {
      violations.push(`status ${stream.status}: ${stream.text().slice(0, 200)}`);
      return result('cut off');
    }
    if (position === 0) token = String(stream.headers['x-resume-token'] ?? '');
    seen.push(withoutKeepAlive(stream.text()));
    const isWhole = (await stream.ended) === 'complete';
    const ending = endingOf(seen.at(-1) ?? '');
    if (isWhole && ending === 'open') violations.push('the stream ended without an end');
    if (isWhole) return result(ending === 'open' ? 'cut off' : ending);
    const hasLeft = position < plan.cuts.length && Buffer.byteLength(stream.text()) >= (plan.cuts[position] ?? 0) - 3;
    if (!hasLeft && !isHit()) violations.push('the connection was cut without a cause');
    if (!plan.isResumable) return result(hasLeft ? 'left' : 'cut off');
  }
}

function questionOf({ marker, isResumable }: ReplyPlan, chatId: string) {
  const text = `How does it work? ${marker}`;
  return {
    fp: 'anonymous',
    id: chatId,
    ...(isResumable ? { resumable: true } : {}),
    messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
  };
}

/** Aborts a request that is accepted and never answered. */
async function noHead(ms: number): Promise<never> {
  await delay(ms, undefined, { ref: false });
  throw new HangingRequest(`A request got no answer in ${ms} ms.`);
}

class HangingRequest extends Error {
  override name = 'HangingRequest';
}

/** Retries while the API is down. */
async function untilServed(open: () => Promise<OpenStream>): Promise<OpenStream> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      const stream = await open();
      if (stream.status !== 503 || Date.now() > deadline) return stream;
      stream.leave();
    } catch (error) {
      if (error instanceof HangingRequest || Date.now() > deadline) throw error;
    }
    await delay(50);
  }
}
