import type { ListedJob, Session } from '../http/types.ts';
import { headline, plain } from '../plain.ts';

/** A notification about a job. Tabs that show the same one replace each other's by its tag. */
interface Notice {
  tag: string;
  title: string;
  body: string;
}

/** Reports whether a session started a job. */
export function isStartedBy({ startedBy }: Pick<ListedJob, 'startedBy'>, { keyId, person }: Session): boolean {
  return startedBy?.keyId === keyId && (person === null || startedBy.name === person);
}

/** Returns the notification of a job that has ended, or waits for a person, after a time; otherwise null. */
export function noticeOf(job: ListedJob, afterMs: number): Notice | null {
  const { failure, waiting, incomplete, title } = job.details;
  const at = waiting?.since ?? job.endedAt;
  if (at === null || Date.parse(at) <= afterMs || job.status === 'archived') return null;
  const name = headline(plain(title ?? job.prompt), 100);
  const tag = `${job.id} ${at}`;
  if (waiting !== null) {
    const body = waiting.for === 'approval' ? 'Its plan waits for approval.' : (waiting.question ?? '');
    return { tag, title: `Waiting: ${name}`, body: headline(plain(body)) };
  }
  if (failure?.category === 'cancelled') return { tag, title: `Cancelled: ${name}`, body: '' };
  if (failure !== null) return { tag, title: `Failed: ${name}`, body: failure.title };
  return { tag, title: `Completed: ${name}`, body: headline(plain(incomplete ?? '')) };
}

/** Creates a function that returns the notification of a job (`noticeOf`) once, however often the job changes later. */
export function createNoticeOnce(): typeof noticeOf {
  const known = new Set<string>();
  return (job, afterMs) => {
    const notice = noticeOf(job, afterMs);
    if (notice === null || known.has(notice.tag)) return null;
    known.add(notice.tag);
    return notice;
  };
}
