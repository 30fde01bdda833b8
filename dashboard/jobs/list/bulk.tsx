import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { isForOthers } from '../../components/palette/shortcuts.tsx';
import { useMay, useSession } from '../../components/session.tsx';
import { showToast } from '../../components/toasts.ts';
import { messageOf } from '../../http/client.ts';
import type { ListedJob } from '../../http/types.ts';
import { fieldsToRetry } from '../retry.ts';
import { actOnSelected, archiveAction, newestPromptOf, retryAction } from './bulk-actions.ts';
import { focusedJob } from './job-rows.tsx';
import type { Selection } from './selection.ts';
import { useKeys } from '../../use-keys.ts';

const BulkBar = lazy(() => import('./bulk-bar.tsx').then(({ BulkBar }) => ({ default: BulkBar })));

/**
 * Shows the actions on the selected jobs once there are any. E archives the selected jobs, or the one in focus. R opens the
 * form to retry one, as on the page of a job, or asks whether to retry several.
 */
export function Bulk({ jobs, selection }: { jobs: ListedJob[]; selection: Selection }) {
  const { projects } = useSession();
  const may = useMay('member');
  const bulk = useMutation({
    mutationFn: actOnSelected,
    onSuccess: (outcome) => selection.set(outcome?.failures.map(({ job }) => job.id) ?? []),
  });
  const [isNeeded, setNeeded] = useState(false);
  const [asksToRetry, setAsksToRetry] = useState(false);
  // the bar stays to tell what became of the jobs
  if (selection.ids.size > 0 && !isNeeded) setNeeded(true);
  const navigate = useNavigate();
  const openForm = useMutation({
    mutationFn: async (job: ListedJob) => {
      const again = fieldsToRetry(job, { projectId: job.projectId, prompt: await newestPromptOf(job) });
      await navigate({ to: '/new', state: { again } });
    },
    onError: (error) => showToast({ text: messageOf(error), undo: null }),
  });
  useKeys((event) => {
    if (!may || isForOthers(event) || bulk.isPending || openForm.isPending) return;
    const focused = focusedJob();
    const wanted = jobs.filter(({ id }) => (selection.ids.size > 0 ? selection.ids.has(id) : id === focused));
    if (event.key === 'e' && wanted.some(archiveAction.appliesTo))
      bulk.mutate({ action: archiveAction, jobs: wanted, projects });
    if (event.key !== 'r') return;
    const [job, ...others] = wanted.filter(retryAction.appliesTo);
    if (others.length > 0) setAsksToRetry(true);
    else if (job !== undefined) openForm.mutate(job);
  });
  if (!isNeeded) return null;
  return (
    <Suspense>
      <BulkBar jobs={jobs} selection={selection} bulk={bulk} asksToRetry={asksToRetry} onAskToRetry={setAsksToRetry} />
    </Suspense>
  );
}
