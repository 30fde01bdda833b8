import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { nameOfActor } from '../actor.ts';
import { Only } from '../components/session.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Field, Problem } from '../components/fields.tsx';
import { Markdown } from '../components/markdown.tsx';
import { useDraft } from '../drafts.ts';
import { fullTime } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { Job } from '../http/types.ts';
import { plain } from '../plain.ts';
import { queryClient } from '../queries.ts';
import type { JobRef } from './job-queries.ts';
import { useSendMessage } from './send-message.ts';

type Waiting = NonNullable<Job['details']['waiting']>;

/** Shows what a job waits for, and lets a person decide. */
export function WaitingNote({ job, state }: { job: JobRef; state: Job }) {
  const { waiting, plan } = state.details;
  if (waiting === null) return null;
  const isPlan = waiting.for === 'approval';
  const person = nameOfActor(waiting.startedBy);
  return (
    <section className="note note-warn" aria-label="Waiting">
      <h2>{isPlan ? 'Plan awaiting approval' : 'The agent has a question'}</h2>
      {isPlan ? (
        <Plan key={waiting.turn} job={job} waiting={waiting} plan={plan ?? ''} />
      ) : (
        <Question key={waiting.turn} job={job} waiting={waiting} />
      )}
      {person !== null && (
        <p className="hint">Waiting for {person}, who started the job. Other members may reply, too.</p>
      )}
      {waiting.until !== null && (
        <p className="hint">
          Without {isPlan ? 'a decision' : 'an answer'}, the job fails on {fullTime(waiting.until)}.
        </p>
      )}
    </section>
  );
}

function Plan({ job, waiting, plan }: { job: JobRef; waiting: Waiting; plan: string }) {
  const { turn } = waiting;
  const { values, change, forget } = useDraft(`comment on turn ${turn} of ${job.id}`, { comment: '' });
  const text = values.comment.trim() || undefined;
  const onDone = (changed: Job) => {
    forget();
    queryClient.setQueryData(['job', job.id], changed);
    return queryClient.invalidateQueries({ queryKey: ['job', job.id] });
  };
  const approve = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v2/agent/{projectId}/job/{id}/approve', { params: { path: job }, body: { turn, comment: text } }),
      ),
    onSuccess: onDone,
  });
  return (
    <>
      <Markdown text={plan} />
      <Only role="member">
        <div className="waiting-form">
          <Field
            label="Comment"
            value={values.comment}
            onChange={(comment) => change({ comment })}
            rows={2}
            placeholder="Note for the agent, or reason for rejecting"
          />
        </div>
        <Problem error={approve.error} />
        <div className="actions">
          <Button className="button button-primary" isDisabled={approve.isPending} onPress={() => approve.mutate()}>
            Approve
          </Button>
          <Confirm
            role="member"
            label="Reject"
            what="Reject the plan"
            title="Reject this plan?"
            text="The job ends without changes. To get another plan, send a message instead."
            act={() =>
              answerOf(
                api.POST('/v2/agent/{projectId}/job/{id}/reject', {
                  params: { path: job },
                  body: { turn, reason: text },
                }),
              )
            }
            onDone={onDone}
          />
        </div>
        <p className="hint">To change the plan, send a message below.</p>
      </Only>
    </>
  );
}

function Question({ job, waiting: { turn, question, choices } }: { job: JobRef; waiting: Waiting }) {
  const send = useSendMessage(job, () => undefined);
  return (
    <>
      <Markdown text={question ?? ''} />
      <Problem error={send.error} />
      <Only role="member">
        <div className="actions">
          {choices.map((choice) => (
            <Button
              key={choice}
              className="button"
              isDisabled={send.isPending}
              onPress={() => send.mutate({ prompt: choice, turn })}
            >
              {plain(choice)}
            </Button>
          ))}
        </div>
        <p className="hint">
          {choices.length === 0 ? 'Answer with a message below.' : 'Or answer with a message below.'}
        </p>
      </Only>
    </>
  );
}
