import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  Button,
  Dialog,
  DialogTrigger,
  Form,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  TextArea,
  TextField,
} from 'react-aria-components';
import { Problem } from '../components/fields.tsx';
import { ModelList, modelListId } from '../components/model-list.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import { newId } from '../widget/new-id.ts';
import type { JobRef } from './job-queries.ts';

interface ForkProps {
  job: JobRef;
  turn: number;
  step: number;
}

/** Shows a dialog that creates a new job continuing after a step. */
export function ForkDialog({ job, turn, step }: ForkProps) {
  return (
    <DialogTrigger>
      <Button className="button button-quiet" aria-label={`Fork from step ${step}`}>
        Fork
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">
            <ForkForm job={job} turn={turn} step={step} />
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

function ForkForm({ job, turn, step }: ForkProps) {
  const navigate = useNavigate();
  const { values, change, forget } = useDraft(`fork of ${job.id} ${turn}.${step}`, { prompt: '', model: '' });
  const { prompt, model } = values;
  const [idempotencyKey] = useState(newId);
  const fork = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v2/agent/{projectId}/job/{id}/fork', {
          params: { path: job, header: { 'Idempotency-Key': `${idempotencyKey}${prompt.length}${model}` } },
          body: { turn, step, ...(prompt.trim() === '' ? {} : { prompt }), ...(model.trim() === '' ? {} : { model }) },
        }),
      ),
    onSuccess: ({ id }) => {
      forget();
      return navigate({ to: '/jobs/$projectId/$id', params: { projectId: job.projectId, id } });
    },
  });
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        fork.mutate();
      }}
    >
      <Heading slot="title">Fork from step {step}</Heading>
      <p className="quiet">
        A new job starts with the conversation and the files as of this step and continues on its own branch.
      </p>
      <TextField className="field" value={prompt} onChange={(prompt) => change({ prompt })} autoFocus>
        <Label className="label">Instructions (optional)</Label>
        <TextArea className="input" rows={4} />
      </TextField>
      <TextField className="field" value={model} onChange={(model) => change({ model })}>
        <Label className="label">Model (optional)</Label>
        <Input className="input code" placeholder="provider/model" spellCheck={false} list={modelListId} />
        <ModelList />
      </TextField>
      <Problem error={fork.error} />
      <div className="actions">
        <Button type="submit" className="button button-primary" isDisabled={fork.isPending}>
          Fork the job
        </Button>
        <Button slot="close" className="button">
          Cancel
        </Button>
      </div>
    </Form>
  );
}
