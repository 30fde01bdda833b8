import { once } from 'node:events';
import { request as send, type Agent, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { FuzzAnswer } from './check-answer.ts';
import type { FuzzRequest } from './requests.ts';

/** How long a stream of a job's events is read. */
const watchMs = 300;
const patienceMs = 60_000;

/** Sends a request as its bytes are and reads the answer. */
export async function exchange(baseUrl: string, agent: Agent, request: FuzzRequest): Promise<FuzzAnswer> {
  const { method, path, headers, body } = request;
  const length = body === null ? {} : { 'content-length': String(body.length) };
  const { hostname, port } = new URL(baseUrl);
  const sent = send({ hostname, port, agent, method, path, headers: { ...headers, ...length } });
  // after the head the response has it
  sent.on('error', () => undefined);
  sent.end(body ?? undefined);
  const timer = setTimeout(() => sent.destroy(new Error('no answer in time')), patienceMs);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const type = response.headers['content-type'] ?? '';
  const isEvents = type.startsWith('text/event-stream') && !/message/i.test(path);
  const leave = isEvents ? setTimeout(() => response.destroy(), watchMs) : undefined;
  const parts: Buffer[] = [];
  try {
    for await (const part of response) parts.push(part as Buffer);
  } catch (error) {
    if (!isEvents) throw error;
  } finally {
    clearTimeout(timer);
    clearTimeout(leave);
  }
  const bytes = Buffer.concat(parts);
  const isPacked = type === 'application/gzip' && bytes.length > 0;
  const text = isPacked ? gunzipSync(bytes).toString() : bytes.toString('utf8');
  return { status: response.statusCode ?? 0, type, text, isWhole: response.complete };
}
