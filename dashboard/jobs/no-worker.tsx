import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { duration, plural } from '../format.ts';
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
  const silentMs = Date.parse(to) - Date.parse(workerSeenAt);
  return silentMs < silentAfterMs
    ? null
    : `${waiting} in the queue. The last worker reported ${duration(silentMs)} ago.`;
}

/** Shows that no worker is running while a job is in the queue. */
export function NoWorker({ isQueued }: { isQueued: boolean }) {
  const { data } = useQuery({
    enabled: isQueued,
    queryKey: ['operations', 1],
    queryFn: () => answerOf(api.GET('/v1/operations', { params: { query: { hours: 1 } } })),
    refetchInterval: 5_000,
  });
  const problem = isQueued && data !== undefined ? queueProblem(data) : null;
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
