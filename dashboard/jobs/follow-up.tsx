import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Form, Label, TextArea, TextField } from 'react-aria-components';
import { answerOf, api, messageOf } from '../http/client.ts';
import type { Job } from '../http/types.ts';
import { queryClient } from '../queries.ts';
import type { JobRef } from './job-queries.ts';

/** Says more to a job: while it works, or to begin a further turn. */
export function FollowUp({ job, status, onSent }: { job: JobRef; status: Job['status']; onSent(): void }) {
  const [prompt, setPrompt] = useState('');
  const [key, setKey] = useState(() => crypto.randomUUID());
  const send = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v2/agent/{projectId}/job/{id}/message', {
          params: { path: job, header: { 'Idempotency-Key': key } },
          body: { prompt },
        }),
      ),
    onSuccess: (changed) => {
      setPrompt('');
      setKey(crypto.randomUUID());
      queryClient.setQueryData(['job', job.id], changed);
      onSent();
      return queryClient.invalidateQueries({ queryKey: ['job', job.id] });
    },
  });
  if (status === 'archived')
    return <p className="quiet">An archived job accepts no messages. Fork it to continue from a step.</p>;
  return (
    <Form
      className="form follow-up"
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <TextField className="field" value={prompt} onChange={setPrompt} isRequired>
        <Label className="label">{status === 'active' ? 'Message the agent' : 'Request a change'}</Label>
        <TextArea
          className="input"
          rows={3}
          placeholder={
            status === 'active'
              ? 'The agent reads this before its next step.'
              : 'The agent continues on the same branch and pull request.'
          }
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
      </TextField>
      {send.isError && (
        <p className="field-error" role="alert">
          {messageOf(send.error)}
        </p>
      )}
      <Button type="submit" className="button button-primary" isDisabled={send.isPending}>
        Send
      </Button>
    </Form>
  );
}
