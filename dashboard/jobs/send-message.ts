import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { answerOf, api } from '../http/client.ts';
import { queryClient } from '../queries.ts';
import { newId } from '../widget/new-id.ts';
import type { Attached } from './images.tsx';
import type { JobRef } from './job-queries.ts';

export interface Message {
  prompt: string;
  images?: Attached[];
  /** Whether the turn begins by merging the base branch. */
  mergeBase?: true;
  /** The turn that the user has read, if the job waits: the message cannot become the answer to a later question. */
  turn?: number;
}

/** Sends messages to a job. A message that is sent again after a lost answer arrives once. */
export function useSendMessage(job: JobRef, onSent: () => void) {
  const [key, setKey] = useState(newId);
  return useMutation({
    mutationFn: ({ prompt, images = [], mergeBase, turn }: Message) =>
      answerOf(
        api.POST('/v2/agent/{projectId}/job/{id}/message', {
          params: { path: job, header: { 'Idempotency-Key': key } },
          body: { prompt, images, mergeBase, turn },
        }),
      ),
    onSuccess: (changed) => {
      setKey(newId());
      queryClient.setQueryData(['job', job.id], changed);
      onSent();
      return queryClient.invalidateQueries({ queryKey: ['job', job.id] });
    },
  });
}

/** Address part that leads to the field for a message. */
export const followUpAnchor = 'message';

/** Returns a function that shows the turn that a message has started, at the end of its job. */
export function useShowNewTurn({ projectId, id }: JobRef): () => void {
  const navigate = useNavigate();
  return () => void navigate({ to: '/jobs/$projectId/$id', params: { projectId, id }, hash: followUpAnchor });
}
