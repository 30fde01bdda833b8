import { useMutation } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button, Checkbox, FieldError, Form, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { answerOf, api, messageOf } from '../http/client.ts';
import { EmptyNote } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { repositoryName } from '../format.ts';
import { OfflineGrammar } from '../jobs/offline-grammar.tsx';

interface Draft {
  projectId: string;
  prompt: string;
  ref: string;
  model: string;
  isDraft: boolean;
  /** The same for a second press of the button: two presses make one job. */
  idempotencyKey: string;
}

function createJob({ projectId, prompt, ref, model, isDraft, idempotencyKey }: Draft) {
  return answerOf(
    api.POST('/v2/agent/{projectId}/job', {
      params: { path: { projectId }, header: { 'Idempotency-Key': idempotencyKey } },
      body: {
        prompt,
        draft: isDraft,
        ...(ref.trim() === '' ? {} : { source: { ref: ref.trim() } }),
        ...(model.trim() === '' ? {} : { model: model.trim() }),
      },
    }),
  );
}

/** The form for a new job. */
export function NewJobPage() {
  const { projects, defaults } = useSession();
  const navigate = useNavigate();
  const again = useLocation({ select: ({ state }) => state.again });
  const [projectId, setProjectId] = useState(again?.projectId ?? projects[0]?.id ?? '');
  const [prompt, setPrompt] = useState(again?.prompt ?? '');
  const [ref, setRef] = useState(again?.ref ?? '');
  const [model, setModel] = useState(again?.model ?? '');
  const [isDraft, setDraft] = useState(false);
  const [idempotencyKey, setIdempotencyKey] = useState(() => crypto.randomUUID());
  // another body is another job
  useEffect(() => setIdempotencyKey(crypto.randomUUID()), [projectId, prompt, ref, model, isDraft]);
  const create = useMutation({
    mutationFn: createJob,
    onSuccess: ({ id }, { projectId }) => navigate({ to: '/jobs/$projectId/$id', params: { projectId, id } }),
  });
  useEffect(() => {
    document.title = 'New job · Docket';
  }, []);
  const project = projects.find(({ id }) => id === projectId);
  if (project === undefined) return <EmptyNote title="No projects yet">Create one in the settings.</EmptyNote>;
  const usedModel = model.trim() || (project.model ?? defaults.agentModel);
  return (
    <div className="narrow">
      <h1>New job</h1>
      <Form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ projectId, prompt, ref, model, isDraft, idempotencyKey });
        }}
      >
        <label className="field">
          <span className="label">Project</span>
          <select className="input" value={projectId} onChange={({ target }) => setProjectId(target.value)}>
            {projects.map(({ id, name, repository }) => (
              <option key={id} value={id}>
                {name} · {repositoryName(repository)}
              </option>
            ))}
          </select>
        </label>
        <TextField className="field" value={prompt} onChange={setPrompt} isRequired>
          <Label className="label">What should change?</Label>
          <TextArea
            className="input prompt"
            rows={7}
            placeholder={'Replace "colour" with "color" everywhere'}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
          <Text slot="description" className="hint">
            The agent reads this before anything else. Ctrl + Enter starts the job.
          </Text>
          <FieldError className="field-error" />
        </TextField>
        {usedModel === 'offline/editor' && (
          <OfflineGrammar
            onUse={(sentence) => setPrompt(prompt === '' ? sentence : `${prompt.trimEnd()}\n${sentence}`)}
          />
        )}
        <div className="field-pair">
          <TextField className="field" value={ref} onChange={setRef}>
            <Label className="label">Base branch, tag or commit</Label>
            <Input className="input code" placeholder="default branch" spellCheck={false} />
          </TextField>
          <TextField className="field" value={model} onChange={setModel}>
            <Label className="label">Model</Label>
            <Input className="input code" placeholder={project.model ?? defaults.agentModel} spellCheck={false} />
          </TextField>
        </div>
        <Checkbox className="checkbox" isSelected={isDraft} onChange={setDraft}>
          <span className="box" aria-hidden="true" />
          Open the pull request as a draft
        </Checkbox>
        {create.isError && (
          <p className="field-error" role="alert">
            {messageOf(create.error)}
          </p>
        )}
        <Button type="submit" className="button button-primary" isDisabled={create.isPending}>
          {create.isPending ? 'Starting…' : 'Start job'}
        </Button>
      </Form>
    </div>
  );
}
