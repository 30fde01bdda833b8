import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { Button } from 'react-aria-components';
import { useMay } from '../components/session.tsx';
import { Field, Problem } from '../components/fields.tsx';
import { PullRequestBadge } from '../components/status.tsx';
import { Ago } from '../components/time.tsx';
import { showToast } from '../components/toasts.ts';
import { useDraft } from '../drafts.ts';
import { count, plural } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { Gap } from '../http/types.ts';
import { plain } from '../plain.ts';
import { queryClient } from '../queries.ts';

const states: Record<Gap['state'], { label: string; badge: string }> = {
  open: { label: 'open', badge: 'badge-warn' },
  working: { label: 'job in progress', badge: 'badge-active' },
  indexing: { label: 'indexing', badge: 'badge-active' },
  asking: { label: 're-checking', badge: 'badge-active' },
  answered: { label: 'answered', badge: 'badge-good' },
  unanswered: { label: 'still unanswered', badge: 'badge-bad' },
  dismissed: { label: 'dismissed', badge: '' },
};

const requests = {
  open: { label: 'pull request open', badge: 'badge-active' },
  closed: { label: 'pull request closed', badge: 'badge-warn' },
  merged: states.indexing,
};

/** Returns the label and badge of a gap. A gap is no longer in progress once its job has ended. */
function stateOf({ state, job }: Gap): { label: string; badge: string } {
  if (state !== 'working' || job === null || job.status === 'active') return states[state];
  if (job.status === 'failed') return { label: 'job failed', badge: 'badge-bad' };
  return job.prState === null ? { label: 'job made no changes', badge: 'badge-warn' } : requests[job.prState];
}

const maxRemarks = 5;

/** Dismisses a gap, or undoes it. */
async function dismissGap(path: { domain: string; id: string }, isWanted: boolean): Promise<void> {
  const params = { path };
  await answerOf(
    isWanted
      ? api.POST('/v1/sites/{domain}/gaps/{id}/dismiss', { params })
      : api.POST('/v1/sites/{domain}/gaps/{id}/restore', { params }),
  );
  await queryClient.invalidateQueries({ queryKey: ['gaps', path.domain] });
}

/** Returns why questions count as a gap: the documentation had no answer, or readers rejected it. */
function reasonOf(questions: Pick<Gap['questions'][number], 'notFound' | 'votedDown'>[]): string {
  const sum = (of: 'notFound' | 'votedDown') => questions.reduce((total, question) => total + (question[of] ?? 0), 0);
  const times = (number: number) => (number === 1 ? 'once' : `${count(number)} times`);
  const [notFound, votedDown] = [sum('notFound'), sum('votedDown')];
  const reasons = [
    ...(notFound > 0 ? [`not found in the documentation ${times(notFound)}`] : []),
    ...(votedDown > 0 ? [`answer voted down ${times(votedDown)}`] : []),
  ].join(', ');
  return reasons === '' ? '' : `${reasons[0]?.toUpperCase()}${reasons.slice(1)}`;
}

/** Moves the focus of a card that leaves the list to the one beside it, or to the choice of the list. */
function useFocusAfterRemoval(card: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const leaving = card.current;
    return () => {
      if (leaving?.contains(document.activeElement) !== true) return;
      const cards = [...document.querySelectorAll('.gap')];
      const at = cards.indexOf(leaving);
      const beside = cards[at + 1] ?? cards[at - 1];
      const next = beside?.querySelector('h2') ?? document.querySelector('.gap-states [aria-pressed="true"]');
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    };
  }, [card]);
}

/** Shows a group of related questions and the work on them. */
export function GapCard({ domain, gap }: { domain: string; gap: Gap }) {
  const { values, change, forget } = useDraft(`instructions for ${gap.id} of ${domain}`, { instructions: '' });
  const { instructions } = values;
  const [hadInstructions] = useState(instructions !== '');
  const may = useMay('member');
  const card = useRef<HTMLElement>(null);
  useFocusAfterRemoval(card);
  const path = { domain, id: gap.id };
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['gaps', domain] });
  const makeJob = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v1/sites/{domain}/gaps/{id}/job', {
          params: { path },
          body: instructions.trim() === '' ? {} : { instructions: instructions.trim() },
        }),
      ),
    onSuccess: () => {
      forget();
      return refresh();
    },
  });
  const check = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/sites/{domain}/gaps/{id}/check', { params: { path } })),
    onSuccess: refresh,
  });
  const isDismissed = gap.state === 'dismissed';
  const dismiss = useMutation({
    mutationFn: () => dismissGap(path, !isDismissed),
    onSuccess: () => {
      const undo = () => dismissGap(path, isDismissed).then(() => (isDismissed ? 'Gap dismissed.' : 'Gap restored.'));
      showToast({ text: isDismissed ? 'Gap restored.' : 'Gap dismissed.', undo });
    },
  });
  const { label, badge } = stateOf(gap);
  const isBeingChecked = gap.state === 'indexing' || gap.state === 'asking';
  const isTitleEnough = gap.questions.every(({ text, answeredNow }) => text === gap.label && answeredNow === null);
  const reason = reasonOf(gap.questions);
  const remarks = [...new Set(gap.questions.flatMap(({ remarks }) => remarks))].slice(0, maxRemarks);
  return (
    <section ref={card} className="panel gap" aria-label={plain(gap.label)}>
      <div className="page-head">
        <h2 className="reader-text" tabIndex={-1}>
          {plain(gap.label)}
        </h2>
        <span className={`badge ${badge}`}>{label}</span>
        <span className="hint">
          asked {plural(gap.count, 'time')}
          {gap.lastAskedAt !== null && (
            <>
              , last <Ago date={gap.lastAskedAt} />
            </>
          )}
        </span>
      </div>
      {isTitleEnough && reason !== '' && <p className="gap-reason">{reason}.</p>}
      {remarks.length > 0 && (
        <ul className="gap-remarks" aria-label="Readers’ remarks">
          {remarks.map((remark) => (
            <li key={remark} className="reader-text">
              “{plain(remark)}”
            </li>
          ))}
        </ul>
      )}
      {!isTitleEnough && (
        <ul className="questions">
          {gap.questions.map((question) => (
            <Question key={question.text} question={question} />
          ))}
        </ul>
      )}
      {gap.job !== null && <JobOf job={gap.job} />}
      <Problem error={makeJob.error ?? check.error ?? dismiss.error} />
      {gap.mayBegin && may && (
        <details className="inner" open={hadInstructions || undefined}>
          <summary>Instructions for the agent</summary>
          <Field
            label="Instructions"
            value={instructions}
            onChange={(instructions) => change({ instructions })}
            rows={3}
            hint="Added after the list of questions."
          />
        </details>
      )}
      <div className="actions">
        {gap.mayBegin && may && (
          <Button className="button button-primary" isDisabled={makeJob.isPending} onPress={() => makeJob.mutate()}>
            {gap.job === null ? 'Create job' : 'Create another job'}
          </Button>
        )}
        {!isDismissed && may && (
          <Button className="button" isDisabled={check.isPending || isBeingChecked} onPress={() => check.mutate()}>
            Ask again
          </Button>
        )}
        <Link className="button" to="/conversations" search={{ site: domain, q: gap.questions[0]?.text ?? gap.label }}>
          Conversations
        </Link>
        {/* a disabled button would lose the focus */}
        {may && (
          <Button className="button" onPress={() => !dismiss.isPending && dismiss.mutate()}>
            {isDismissed ? 'Restore' : 'Dismiss'}
          </Button>
        )}
        {gap.checkedAt !== null && (
          <span className="hint">
            checked <Ago date={gap.checkedAt} />
          </span>
        )}
      </div>
    </section>
  );
}

function Question({ question }: { question: Gap['questions'][number] }) {
  const { text, count: asked, answeredNow } = question;
  return (
    <li>
      <span className="reader-text">{plain(text)}</span> <span className="hint">{reasonOf([question])}</span>{' '}
      {asked > 1 && <span className="hint">×{asked}</span>}{' '}
      {answeredNow !== null && (
        <span className={`badge ${answeredNow ? 'badge-good' : 'badge-bad'}`}>
          {answeredNow ? 'answered' : 'unanswered'}
        </span>
      )}
    </li>
  );
}

function JobOf({ job }: { job: NonNullable<Gap['job']> }) {
  return (
    <p className="gap-job">
      <Link to="/jobs/$projectId/$id" params={{ projectId: job.projectId, id: job.id }}>
        Job
      </Link>{' '}
      <span className="quiet">{job.status}</span>
      {job.prLink !== null && (
        <>
          {' · '}
          <a href={job.prLink}>Pull request</a> {job.prState !== null && <PullRequestBadge state={job.prState} />}
        </>
      )}
    </p>
  );
}
