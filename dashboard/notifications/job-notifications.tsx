import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { StreamEvent } from '../http/event-stream.ts';
import { useSharedStream } from '../http/shared-stream.ts';
import type { ListedJob, Session } from '../http/types.ts';
import { createNoticeOnce, isStartedBy } from './notice-of.ts';

const watched = new Set<string>();

/** Turns on notifications of a job in this tab, no matter who started it. */
export function useWatched(id: string): void {
  useEffect(() => void watched.add(id), [id]);
}

/** While the tab is hidden, notifies of jobs that end or wait for a person. */
export function JobNotifications({ session }: { session: Session }) {
  const navigate = useNavigate();
  /** Time of the database when the subscription began. */
  const since = useRef(Number.POSITIVE_INFINITY);
  const [noticeOnce] = useState(createNoticeOnce);
  useSharedStream('/v1/jobs/events', (events: StreamEvent[]) => {
    for (const { event, id, data } of events) {
      if (event === 'start') since.current = Math.min(since.current, Number(id) / 1_000);
      if (event !== 'job') continue;
      const job: ListedJob = JSON.parse(data);
      if (!watched.has(job.id) && !isStartedBy(job, session)) continue;
      const notice = noticeOnce(job, since.current);
      // what ended in front of the user's eyes is no news later
      if (notice === null || !document.hidden) continue;
      const { title, ...options } = notice;
      const notification = new Notification(title, { ...options, icon: '/icon.svg' });
      notification.addEventListener('click', () => {
        window.focus();
        notification.close();
        void navigate({ to: '/jobs/$projectId/$id', params: { projectId: job.projectId, id: job.id } });
      });
    }
  });
  return null;
}
