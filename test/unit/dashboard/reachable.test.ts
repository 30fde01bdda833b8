import { expect, it, onTestFinished, vi } from 'vitest';
import { api } from '../../../dashboard/http/client.ts';
import { onReachChange, reachOfServer } from '../../../dashboard/http/reachable.ts';

it('says that the server is silent when a request has no response for 10 seconds, until it has', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const changes: string[] = [];
  onTestFinished(onReachChange(() => changes.push(reachOfServer())));
  const [hung, quick] = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()];
  const asked = [hung, quick].map(({ promise }) => api.GET('/v1/session', { fetch: () => promise }));
  quick.resolve(Response.json({}));
  await vi.advanceTimersByTimeAsync(9_999);
  expect(reachOfServer()).toBe('reached');
  await vi.advanceTimersByTimeAsync(1);
  expect([reachOfServer(), changes.at(-1)]).toEqual(['silent', 'silent']);
  hung.reject(new DOMException('', 'AbortError'));
  await Promise.allSettled(asked);
  expect([reachOfServer(), changes.at(-1)]).toEqual(['reached', 'reached']);
});

it('says that the server is lost until it responds', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const fetching = vi.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json({}));
  onTestFinished(() => fetching.mockRestore());
  await api.GET('/v1/session', { fetch: () => Promise.reject(new TypeError('refused')) }).catch(() => {});
  expect(reachOfServer()).toBe('lost');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(reachOfServer()).toBe('reached');
});
