import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { Field, Problem } from '../components/fields.tsx';
import { Several } from '../components/several.tsx';
import { answerOf, api } from '../http/client.ts';

interface Said {
  vote: 'up' | 'down';
  reasons: string[];
  comment: string | null;
}

const reasons = ['it is wrong', 'it is outdated', 'it does not answer the question', 'it is hard to understand'];

/** Asks whether an answer helped and, if not, why. New feedback replaces earlier feedback. */
export function Feedback({ domain, threadId, messageId }: { domain: string; threadId: string; messageId: string }) {
  const say = useMutation({
    mutationFn: (said: Said) =>
      answerOf(
        api.POST('/discovery/v2/assistant/{domain}/feedback', {
          params: { path: { domain } },
          body: { threadId, messageId, ...said },
        }),
      ),
  });
  const vote = say.variables?.vote ?? null;
  const hasSaidWhy = say.isSuccess && (say.data.reasons.length > 0 || say.data.comment !== null);
  return (
    <div className="feedback" role="group" aria-label="Feedback">
      <div className="actions">
        <span className="quiet">Did this help?</span>
        {(['up', 'down'] as const).map((direction) => (
          <Button
            key={direction}
            className="button button-quiet"
            aria-pressed={vote === direction}
            onPress={() => say.mutate({ vote: direction, reasons: [], comment: null })}
          >
            {direction === 'up' ? 'Yes' : 'No'}
          </Button>
        ))}
        {say.isSuccess && <span role="status">Thank you.</span>}
      </div>
      <Problem error={say.error} />
      {vote === 'down' && !hasSaidWhy && (
        <Why isBusy={say.isPending} onSay={(why) => say.mutate({ vote: 'down', ...why })} />
      )}
    </div>
  );
}

function Why({ isBusy, onSay }: { isBusy: boolean; onSay(why: Pick<Said, 'reasons' | 'comment'>): void }) {
  const [chosen, setChosen] = useState<string[]>([]);
  const [comment, setComment] = useState('');
  const isEmpty = chosen.length === 0 && comment.trim() === '';
  return (
    <Form
      className="form why"
      aria-label="Reason"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) onSay({ reasons: chosen, comment: comment.trim() || null });
      }}
    >
      <Several label="What is wrong?" options={reasons} chosen={chosen} onChange={setChosen} />
      <Field label="What is missing?" value={comment} onChange={setComment} rows={2} />
      <Button type="submit" className="button" isDisabled={isBusy || isEmpty}>
        Send reason
      </Button>
    </Form>
  );
}
