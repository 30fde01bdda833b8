import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Button, FieldError, Form, Label, TextArea, TextField } from 'react-aria-components';
import { isConflict } from '../http/client.ts';
import { Problem } from '../components/fields.tsx';
import { useMay } from '../components/session.tsx';
import { useDraft } from '../drafts.ts';
import type { Job } from '../http/types.ts';
import { effectOfMessage, refusalOfMessage } from './advice.ts';
import { AttachedImages, type Attached } from './images.tsx';
import type { JobRef } from './job-queries.ts';
import { followUpAnchor, useSendMessage } from './send-message.ts';

/** Sends a follow-up message to a job, either during a turn or to start a new one. It stays at the bottom of the window. */
export function FollowUp({ job, state, onSent }: { job: JobRef; state: Job; onSent(): void }) {
  const { status } = state;
  const waitingTurn = state.details.waiting?.turn;
  /** `turn` is the one that was waiting when the user began to write. */
  const empty: { prompt: string; turn?: number } = { prompt: '' };
  const { values, change, forget } = useDraft(`message to ${job.id}`, empty);
  const { prompt, turn = waitingTurn } = values;
  const [images, setImages] = useState<Attached[]>([]);
  const field = useRef<HTMLTextAreaElement>(null);
  const isWanted = useLocation({ select: ({ hash }) => hash === followUpAnchor });
  useEffect(() => {
    if (!isWanted) return undefined;
    // the conversation above has its height in the next frame
    const frame = requestAnimationFrame(() => {
      showEnd();
      field.current?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [isWanted]);
  const send = useSendMessage(job, () => {
    forget();
    setImages([]);
    onSent();
    showEnd();
  });
  const may = useMay('member');
  const refusal = may ? refusalOfMessage(state) : 'Sending messages requires the member role.';
  if (refusal !== null) return <p className="quiet">{refusal}</p>;
  return (
    <Form
      className="form follow-up"
      onSubmit={(event) => {
        event.preventDefault();
        // a repetition after a lost answer is the same request
        change({ turn });
        send.mutate({ prompt, images, turn }, { onError: (error) => isConflict(error) && change({ turn: undefined }) });
      }}
    >
      <TextField
        className="field"
        value={prompt}
        onChange={(text) => change({ prompt: text, turn: prompt === '' ? waitingTurn : turn })}
        isRequired
      >
        <Label className="label">{status === 'active' ? 'Message the agent' : 'Request a change'}</Label>
        <TextArea
          ref={field}
          className="input"
          rows={2}
          placeholder={effectOfMessage(state)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
        <FieldError className="field-error" />
      </TextField>
      <div className="follow-up-more">
        <AttachedImages images={images} onChange={setImages} />
      </div>
      <Problem error={send.error} />
      <Button type="submit" className="button button-primary" isDisabled={send.isPending}>
        Send
      </Button>
    </Form>
  );
}

/** Shows the end of the conversation, where a message becomes visible. */
function showEnd(): void {
  window.scrollTo({ top: document.documentElement.scrollHeight });
}
