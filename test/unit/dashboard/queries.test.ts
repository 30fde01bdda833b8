import { MutationObserver, onlineManager } from '@tanstack/react-query';
import { expect, it, onTestFinished } from 'vitest';
import { queryClient } from '../../../dashboard/queries.ts';

it('reads and writes while the browser says that it is offline', async () => {
  onlineManager.setOnline(false);
  onTestFinished(() => onlineManager.setOnline(true));
  const read = queryClient.fetchQuery({ queryKey: ['local'], queryFn: () => 'read' });
  const { promise: isPaused, resolve } = Promise.withResolvers<string>();
  const writing = new MutationObserver(queryClient, { mutationFn: async () => 'written' });
  writing.subscribe((state) => state.isPaused && resolve('paused'));
  const paused = queryClient.getQueryCache().find({ queryKey: ['local'] })?.state.fetchStatus;
  expect(paused).toBe('fetching');
  expect(await read).toBe('read');
  expect(await Promise.race([writing.mutate(), isPaused])).toBe('written');
});
