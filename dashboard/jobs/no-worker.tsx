import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { plural, seconds } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { Operations } from '../http/types.ts';

/** Workers report every 5 seconds. */
const silentAfterMs = 20_000;

/** Explains why no worker takes jobs from the queue; null while a worker reports. Both times are the server's. */
export function queueProblem({
  to,
  workerSeenAt,
  queue,
}: Pick<Operations, 'to' | 'workerSeenAt' | 'queue'>): string | null {
  const waiting = plural(queue.waiting, 'job');
  if (workerSeenAt === null) return `${waiting} in the queue, and no worker has reported in the last 10 minutes.`;
  return isSilent(to, workerSeenAt)
    ? `${waiting} in the queue. The last worker reported ${seconds(Date.parse(to) - Date.parse(workerSeenAt))} ago.`
    : null;
}

/** Reports whether a worker that was last seen at a time no longer reports. Both times are the server's. */
export function isSilent(to: string, seenAt: string): boolean {
  return Date.parse(to) - Date.parse(seenAt) >= silentAfterMs;
}

const lastHour = queryOptions({
  queryKey: ['operations', 1],
  queryFn: () => answerOf(api.GET('/v1/operations', { params: { query: { hours: 1 } } })),
});

/** Marks a link when no worker is running. */
export function NoWorkerDot() {
  const { data } = useQuery({
    ...lastHour,
    refetchInterval: ({ state }) => (state.data !== undefined && queueProblem(state.data) !== null ? 5_000 : 30_000),
  });
  if (data === undefined || queueProblem(data) === null) return null;
  return <span className="nav-dot" role="img" aria-label="No worker is running" title="No worker is running" />;
}

/** Returns why no worker takes a job that is in the queue; null for no reason, and undefined until it is known. */
export function useQueueProblem(isQueued: boolean): string | null | undefined {
  const { data, isPending } = useQuery({ ...lastHour, enabled: isQueued, refetchInterval: 5_000 });
  if (!isQueued) return null;
  if (data === undefined) return isPending ? undefined : null;
  return queueProblem(data);
}

/** Shows that no worker is running, and why that is assumed. */
export function NoWorker({ problem }: { problem: string | null }) {
  if (problem === null) return null;
  return (
    <section className="note note-warn" role="status">
      <h2>No worker is running</h2>
      <p>
        {problem} <Link to="/operations">Show workers</Link>
      </p>
    </section>
  );
}
