import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { answerOf, api, messageOf } from '../http/client.ts';

/** Whether an answer helped. */
export function Feedback({ domain, threadId, messageId }: { domain: string; threadId: string; messageId: string }) {
  const vote = useMutation({
    mutationFn: (direction: 'up' | 'down') =>
      answerOf(
        api.POST('/discovery/v2/assistant/{domain}/feedback', {
          params: { path: { domain } },
          body: { threadId, messageId, vote: direction },
        }),
      ),
  });
  return (
    <div className="actions feedback">
      <span className="quiet">Did this help?</span>
      {(['up', 'down'] as const).map((direction) => (
        <Button
          key={direction}
          className="button button-quiet"
          aria-pressed={vote.data?.vote === direction}
          onPress={() => vote.mutate(direction)}
        >
          {direction === 'up' ? 'Yes' : 'No'}
        </Button>
      ))}
      {vote.isSuccess && <span role="status">Thank you.</span>}
      {vote.isError && <span className="field-error">{messageOf(vote.error)}</span>}
    </div>
  );
}
