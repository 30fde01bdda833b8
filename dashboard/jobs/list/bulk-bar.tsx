import type { UseMutationResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { Confirm } from '../../components/confirm.tsx';
import { useMay, useSession } from '../../components/session.tsx';
import { headline, plain } from '../../plain.ts';
import { plural } from '../../format.ts';
import type { ListedJob } from '../../http/types.ts';
import {
  archiveAction,
  cancelAction,
  retryAction,
  unarchiveAction,
  type BulkAction,
  type SelectedJobs,
  type SelectedOutcome,
} from './bulk-actions.ts';
import { jobAddress } from '../job-address.ts';
import type { Selection } from './selection.ts';

interface BulkBarProps {
  jobs: ListedJob[];
  selection: Selection;
  bulk: UseMutationResult<SelectedOutcome | null, Error, SelectedJobs>;
  /** Whether the confirmation of a retry is shown. */
  asksToRetry: boolean;
  onAskToRetry(asks: boolean): void;
}

/** Shows the actions on the selected jobs, and what became of them. */
export function BulkBar({ jobs, selection, bulk, asksToRetry, onAskToRetry }: BulkBarProps) {
  const { projects } = useSession();
  const may = useMay('member');
  const chosen = selection.ids.size === 0 ? [] : jobs.filter(({ id }) => selection.ids.has(id));
  const act = (action: BulkAction) => bulk.mutateAsync({ action, jobs: chosen, projects });
  const of = (action: BulkAction) => chosen.filter(action.appliesTo).length;
  const outcome = bulk.data ?? null;
  // the list is newest first; the older job is on the left
  const [other, one] = chosen;
  if (chosen.length === 0 && outcome === null) return null;
  return (
    <section className="bulk-bar" aria-label="Selected jobs">
      {outcome !== null && (
        <div role="status">
          <p>
            {plural(outcome.done, 'job')} {outcome.doneAs}.
            {outcome.failures.length > 0 && ` ${plural(outcome.failures.length, 'job')} could not be:`}
          </p>
          {outcome.failures.length > 0 && (
            <ul>
              {outcome.failures.map(({ job, message }) => (
                <li key={job.id}>
                  <b>{headline(plain(job.details.title ?? job.prompt), 60)}</b>: {message}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <div className="actions">
        {chosen.length > 0 && <span>{plural(chosen.length, 'job')} selected</span>}
        {one !== undefined && other !== undefined && chosen.length === 2 && (
          <Link className="button" to="/compare" search={{ left: jobAddress(one), right: jobAddress(other) }}>
            Compare
          </Link>
        )}
        {of(cancelAction) > 0 && (
          <Confirm
            role="member"
            label={`Cancel ${of(cancelAction)}`}
            what="Cancel the jobs"
            title={`Cancel ${plural(of(cancelAction), 'job')}?`}
            text="They stop and publish nothing further. A follow-up message resumes a job."
            act={() => act(cancelAction)}
            onDone={() => undefined}
          />
        )}
        {may && of(archiveAction) > 0 && (
          <Button className="button" isDisabled={bulk.isPending} onPress={() => void act(archiveAction)}>
            Archive {of(archiveAction)}
          </Button>
        )}
        {may && of(unarchiveAction) > 0 && (
          <Button className="button" isDisabled={bulk.isPending} onPress={() => void act(unarchiveAction)}>
            Unarchive {of(unarchiveAction)}
          </Button>
        )}
        {may && of(retryAction) === 1 && (
          <Button className="button" isDisabled={bulk.isPending} onPress={() => void act(retryAction)}>
            Retry 1
          </Button>
        )}
        {of(retryAction) > 1 && (
          <Confirm
            role="member"
            isOpen={asksToRetry}
            onOpenChange={onAskToRetry}
            label={`Retry ${of(retryAction)}`}
            what="Retry the jobs"
            title={`Retry ${plural(of(retryAction), 'job')}?`}
            text="Each one starts as a new job with its newest prompt."
            isMain
            act={() => act(retryAction)}
            onDone={() => undefined}
          />
        )}
        <Button
          className="button button-quiet"
          onPress={() => {
            bulk.reset();
            selection.set([]);
          }}
        >
          {chosen.length > 0 ? 'Clear selection' : 'Dismiss'}
        </Button>
      </div>
    </section>
  );
}
