import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Button } from 'react-aria-components';
import { useMay } from '../components/session.tsx';
import { Problem } from '../components/fields.tsx';
import { useDraft } from '../drafts.ts';
import { plural } from '../format.ts';
import type { PullRequest } from '../http/types.ts';
import { effectOfMessage, refusalOfMessage } from '../jobs/advice.ts';
import { jobQuery, type JobRef } from '../jobs/job-queries.ts';
import { useSendMessage, useShowNewTurn } from '../jobs/send-message.ts';
import { ShownComment } from './comment-editor.tsx';
import { DiffView } from './diff-view.tsx';
import { inOrder, isOnLine, keyOfComment, linesOf, messageOfComments, type Gathered } from './line-comments.ts';
import { readPatch } from './read-patch.ts';
import '../styles/review.css';

const none: Gathered = {};

interface ReviewedDiffProps {
  job: JobRef;
  patch: string;
  /** The earlier pull request of the job that the diff is of; null for the newest change. */
  earlier?: Pick<PullRequest, 'id' | 'number'> | null;
  onSent?: () => void;
}

/** Shows the diff of a job. Comments on its lines are gathered and sent to the agent as one message. */
export function ReviewedDiff({ job, patch, earlier = null, onSent }: ReviewedDiffProps) {
  const state = useQuery(jobQuery(job));
  const { values, change, forget } = useDraft(`comments on ${earlier?.id ?? job.id}`, none);
  const comments = useMemo(() => inOrder(values), [values]);
  const review = useMemo(() => ({ comments: Map.groupBy(comments, ({ path }) => path), change }), [comments, change]);
  const outdated = useMemo(() => {
    const lines = new Map(readPatch(patch).files.map((file) => [file.path, linesOf(file)]));
    return comments.filter((comment) => !isOnLine(comment, lines.get(comment.path) ?? new Map()));
  }, [patch, comments]);
  const may = useMay('member');
  const showNewTurn = useShowNewTurn(job);
  const send = useSendMessage(job, () => {
    forget();
    onSent?.();
    showNewTurn();
  });
  if (state.data === undefined) return <DiffView patch={patch} />;
  const refusal = may ? refusalOfMessage(state.data) : 'Requires the member role.';
  if (refusal !== null)
    return (
      <>
        <p className="hint">You cannot comment on lines. {refusal}</p>
        <DiffView patch={patch} />
      </>
    );
  return (
    <>
      <p className="hint">Choose a line number to comment on the line. Arrow keys move between the lines of a file.</p>
      <DiffView patch={patch} review={review} />
      {comments.length > 0 && (
        <section className="review-bar" aria-label="Comments for the agent">
          {outdated.map((comment) => (
            <div key={keyOfComment(comment)}>
              <p className="hint">
                {comment.path}, {comment.place}: no longer in the diff
              </p>
              <ShownComment comment={comment} onDelete={() => change({ [keyOfComment(comment)]: undefined })} />
            </div>
          ))}
          <Problem error={send.error} />
          <div className="actions">
            <Button
              className="button button-primary"
              isDisabled={send.isPending}
              onPress={() => send.mutate({ prompt: messageOfComments(comments, earlier?.number) })}
            >
              Send {plural(comments.length, 'comment')} to the agent
            </Button>
            <span className="hint">{effectOfMessage(state.data)}</span>
          </div>
        </section>
      )}
    </>
  );
}
