import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react';
import { isForOthers } from '../../components/palette/shortcuts.tsx';
import { useSession } from '../../components/session.tsx';
import type { ListedJob } from '../../http/types.ts';
import { actOnSelected, archiveAction } from './bulk-actions.ts';
import { focusedJob } from './job-rows.tsx';
import type { Selection } from './selection.ts';

const BulkBar = lazy(() => import('./bulk-bar.tsx').then(({ BulkBar }) => ({ default: BulkBar })));

/** Shows the actions on the selected jobs once there are any. E archives the selected jobs, or the one in focus. */
export function Bulk({ jobs, selection }: { jobs: ListedJob[]; selection: Selection }) {
  const { projects } = useSession();
  const bulk = useMutation({
    mutationFn: actOnSelected,
    onSuccess: (outcome) => selection.set(outcome?.failures.map(({ job }) => job.id) ?? []),
  });
  const [isNeeded, setNeeded] = useState(false);
  // the bar stays to tell what became of the jobs
  if (selection.ids.size > 0 && !isNeeded) setNeeded(true);
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'e' || isForOthers(event) || bulk.isPending) return;
    const focused = focusedJob();
    const wanted = jobs.filter(({ id }) => (selection.ids.size > 0 ? selection.ids.has(id) : id === focused));
    if (wanted.some(archiveAction.appliesTo)) bulk.mutate({ action: archiveAction, jobs: wanted, projects });
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event);
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  if (!isNeeded) return null;
  return (
    <Suspense>
      <BulkBar jobs={jobs} selection={selection} bulk={bulk} />
    </Suspense>
  );
}
