import { lazy, Suspense } from 'react';
import { Button } from 'react-aria-components';
import type { JobPullRequest, Step } from '../http/types.ts';
import { Markdown } from '../components/markdown.tsx';
import { Loading } from '../components/notes.tsx';
import { plain } from '../plain.ts';
import { useKeptState } from './kept-state.tsx';
import type { JobRef } from './job-queries.ts';
import type { Outcome } from './timeline/timeline.ts';
import { PullRequestLink } from './turn-head.tsx';

const TurnDiff = lazy(() => import('../diff/step-diff.tsx').then(({ TurnDiff }) => ({ default: TurnDiff })));

interface TurnOutcomeProps {
  job: JobRef;
  outcome: Outcome;
  /** The loaded pull requests of the job. */
  pullRequests: readonly JobPullRequest[];
  /** Last step of a turn that changed files. */
  lastStep: Step | null;
}

/** Shows the outcome of a turn: first what is incomplete, then what it did, and its changes on request. */
export function TurnOutcome({ job, outcome, pullRequests, lastStep }: TurnOutcomeProps) {
  const { heading, kind, incomplete, message, prLink } = outcome;
  const [shown, setShowsDiff] = useKeptState(`changes of turn ${lastStep?.turn ?? 0}`);
  const showsDiff = shown === true;
  return (
    <div className={`outcome outcome-${kind}`}>
      {incomplete !== null && (
        <>
          <h3>Incomplete</h3>
          <p role="status">{plain(incomplete)}</p>
        </>
      )}
      <h3>{heading}</h3>
      <Markdown text={message ?? ''} />
      {lastStep !== null && (
        <Button className="button button-quiet" aria-expanded={showsDiff} onPress={() => setShowsDiff(!showsDiff)}>
          {showsDiff ? 'Hide' : 'Show'} the changes after turn {lastStep.turn}
        </Button>
      )}
      {prLink !== null && <PullRequestLink prLink={prLink} pullRequests={pullRequests} />}
      {lastStep !== null && showsDiff && (
        <Suspense fallback={<Loading />}>
          <TurnDiff job={job} step={lastStep} />
        </Suspense>
      )}
    </div>
  );
}
