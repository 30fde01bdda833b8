import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { answerOf, api, done, messageOf } from '../http/client.ts';
import type { Job } from '../http/types.ts';
import { Confirm } from '../components/confirm.tsx';
import { useMay, useSession } from '../components/session.tsx';
import { showToast } from '../components/toasts.ts';
import { queryClient } from '../queries.ts';
import { CancelJob } from './cancel-job.tsx';
import type { JobRef } from './job-queries.ts';

const Palette = lazy(() => import('../components/palette/palette.tsx').then(({ Palette }) => ({ default: Palette })));

/** Archives a job, or undoes it. */
async function archiveJob(job: JobRef, isWanted: boolean): Promise<void> {
  const params = { path: job };
  await answerOf(
    isWanted
      ? api.POST('/v2/agent/{projectId}/job/{id}/archive', { params })
      : api.POST('/v2/agent/{projectId}/job/{id}/unarchive', { params }),
  );
  await queryClient.invalidateQueries({ queryKey: ['job', job.id] });
}

/** Shows the actions on a job other than sending a follow-up. */
export function JobActions({
  job,
  status,
  turn,
  hasChange,
}: {
  job: JobRef;
  status: Job['status'];
  turn: number;
  hasChange: boolean;
}) {
  const { temporalUiUrl, temporalNamespace } = useSession();
  const may = useMay('member');
  const navigate = useNavigate();
  const [isComparing, setComparing] = useState(false);
  const path = `/v2/agent/${job.projectId}/job/${job.id}`;
  const workflow = turn <= 1 ? `agent-job/${job.id}` : `agent-job/${job.id}/turn-${turn}`;
  const archive = useMutation({
    mutationFn: (isWanted: boolean) => archiveJob(job, isWanted),
    onSuccess: (_, isWanted) => {
      const undo = () => archiveJob(job, false).then(() => 'The job is no longer archived.');
      if (isWanted) showToast({ text: 'Job archived. It accepts no more messages.', undo });
    },
    onError: (error) => showToast({ text: messageOf(error), undo: null }),
  });
  return (
    <div className="actions">
      {status === 'active' && <CancelJob job={job} />}
      {hasChange && (
        <a className="button" href={`${path}/diff`} download={`${job.id}.patch`}>
          Download patch
        </a>
      )}
      <a className="button" href={`${path}/bundle`} download={`${job.id}.docket.gz`}>
        Export bundle
      </a>
      <Button className="button" onPress={() => setComparing(true)}>
        Compare with…
      </Button>
      {isComparing && (
        <Suspense>
          <Palette onClose={() => setComparing(false)} compareWith={job} />
        </Suspense>
      )}
      {temporalUiUrl !== null && temporalNamespace !== null && (
        <a
          className="button"
          href={`${temporalUiUrl}/namespaces/${encodeURIComponent(temporalNamespace)}/workflows/${encodeURIComponent(workflow)}`}
          target="_blank"
          rel="noopener noreferrer"
        >
          Open in Temporal ↗
        </a>
      )}
      {status !== 'active' && may && (
        <Button className="button" isDisabled={archive.isPending} onPress={() => archive.mutate(status !== 'archived')}>
          {status === 'archived' ? 'Unarchive' : 'Archive'}
        </Button>
      )}
      <Confirm
        role="member"
        label="Delete"
        what="Delete the job"
        title="Delete this job?"
        text="This also deletes its conversation, steps and snapshots, and stops work in progress. Its branch and pull request remain. This cannot be undone."
        act={() => done(api.DELETE('/v2/agent/{projectId}/job/{id}', { params: { path: job } }))}
        onDone={() => navigate({ to: '/' })}
      />
    </div>
  );
}
