import { useMutation } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, FieldError, Form, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { answerOf, api } from '../http/client.ts';
import { Choice } from '../components/choice.tsx';
import { Check, Field, linesOf, Problem } from '../components/fields.tsx';
import { describeModel, ModelList, modelListId } from '../components/model-list.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { useMay, useSession } from '../components/session.tsx';
import { useDraft } from '../drafts.ts';
import { repositoryName } from '../format.ts';
import { effortsWith, type EffortChoice } from '../jobs/effort.ts';
import { ExamplePrompts } from '../jobs/example-prompts.tsx';
import { useKnownNames } from '../jobs/known-branches.ts';
import { AttachedImages, type Attached } from '../jobs/images.tsx';
import { OfflineGrammar, placeholderOf } from '../jobs/offline-grammar.tsx';
import { useTitle } from '../use-title.ts';
import { newId } from '../widget/new-id.ts';

interface NewJob {
  projectId: string;
  prompt: string;
  images: Attached[];
  ref: string;
  /** The first model, then fallbacks; empty for the project's. */
  models: string[];
  effort: EffortChoice;
  outputLimit: string;
  isDraft: boolean;
  /** Stays the same when the button is pressed twice, so that only one job is created. */
  idempotencyKey: string;
}

function createJob({ projectId, prompt, images, ref, models, effort, outputLimit, isDraft, idempotencyKey }: NewJob) {
  return answerOf(
    api.POST('/v2/agent/{projectId}/job', {
      params: { path: { projectId }, header: { 'Idempotency-Key': idempotencyKey } },
      body: {
        prompt,
        images,
        draft: isDraft,
        ...(ref.trim() === '' ? {} : { source: { ref: ref.trim() } }),
        ...(models.length === 0 ? {} : { models }),
        ...(effort === '' ? {} : { reasoningEffort: effort }),
        ...(outputLimit.trim() === '' ? {} : { maxOutputTokens: Number(outputLimit) }),
      },
    }),
  );
}

/** Contents of the form. */
export interface Fields {
  projectId: string;
  prompt: string;
  ref: string;
  model: string;
  fallbacks: string;
  effort: EffortChoice;
  outputLimit: string;
  draft: string;
}

/** Shows the form for a new job. */
export function NewJobPage() {
  useTitle('New job');
  return useMay('member') ? <NewJob /> : <EmptyNote title="New job">Starting jobs requires the member role.</EmptyNote>;
}

function NewJob() {
  const { projects, defaults, models } = useSession();
  const navigate = useNavigate();
  const again = useLocation({ select: ({ state }) => state.again });
  const first: Fields = {
    projectId: projects[0]?.id ?? '',
    prompt: '',
    ref: '',
    model: '',
    fallbacks: '',
    effort: '',
    outputLimit: '',
    draft: '',
  };
  const { values, change, forget } = useDraft('new-job', first, again);
  const { projectId, prompt, ref, model, fallbacks, effort, outputLimit } = values;
  const isDraft = values.draft !== '';
  const [images, setImages] = useState<Attached[]>([]);
  const [hasSettings] = useState(() => [fallbacks, effort, outputLimit].some((value) => value !== ''));
  const [idempotencyKey, setIdempotencyKey] = useState(newId);
  // a different body is a different job
  useEffect(() => setIdempotencyKey(newId()), [values, images]);
  const { branches, documents } = useKnownNames(projectId);
  const create = useMutation({
    mutationFn: createJob,
    onSuccess: ({ id }, { projectId }) => {
      forget();
      return navigate({ to: '/jobs/$projectId/$id', params: { projectId, id } });
    },
  });
  const field = useRef<HTMLTextAreaElement>(null);
  const [selected, setSelected] = useState<{ start: number; end: number } | null>(null);
  useLayoutEffect(() => {
    if (selected === null) return;
    field.current?.focus();
    field.current?.setSelectionRange(selected.start, selected.end);
  }, [selected]);
  // a kept draft may be for a project that is gone
  const project = projects.find(({ id }) => id === projectId) ?? projects[0];
  if (project === undefined) return <EmptyNote title="No projects yet">Create one in the settings.</EmptyNote>;
  const use = (sentence: string) => {
    const before = prompt === '' ? '' : `${prompt.trimEnd()}\n`;
    const { start, end } = placeholderOf(sentence);
    setSelected({ start: before.length + start, end: before.length + end });
    change({ prompt: `${before}${sentence}` });
  };
  const usedModel = model.trim() || (project.model ?? defaults.agentModel);
  const known = models.find(({ name }) => name === usedModel);
  const others = linesOf(fallbacks);
  const asked = model.trim() === '' && others.length === 0 ? [] : [usedModel, ...others];
  return (
    <div className="narrow">
      <h1>New job</h1>
      <Form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({
            projectId: project.id,
            prompt,
            images,
            ref,
            models: asked,
            effort,
            outputLimit,
            isDraft,
            idempotencyKey,
          });
        }}
      >
        <label className="field">
          <span className="label">Project</span>
          <select className="input" value={project.id} onChange={({ target }) => change({ projectId: target.value })}>
            {projects.map(({ id, name, repository }) => (
              <option key={id} value={id}>
                {name} · {repositoryName(repository)}
              </option>
            ))}
          </select>
        </label>
        <TextField className="field" value={prompt} onChange={(prompt) => change({ prompt })} isRequired>
          <Label className="label">What should change?</Label>
          <TextArea
            ref={field}
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
        {usedModel === 'offline/editor' ? (
          <OfflineGrammar path={documents[0]} onUse={use} />
        ) : (
          prompt === '' && <ExamplePrompts documents={documents} onUse={use} />
        )}
        <AttachedImages images={images} onChange={setImages} />
        <div className="field-pair">
          <TextField className="field" value={ref} onChange={(ref) => change({ ref })}>
            <Label className="label">Base branch, tag or commit</Label>
            <Input className="input code" placeholder="default branch" spellCheck={false} list="branches" />
            <datalist id="branches">
              {branches.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </TextField>
          <TextField className="field" value={model} onChange={(model) => change({ model })}>
            <Label className="label">Model</Label>
            <Input
              className="input code"
              placeholder={project.model ?? defaults.agentModel}
              spellCheck={false}
              list={modelListId}
            />
            {known !== undefined && (
              <Text slot="description" className="hint">
                {describeModel(known)}
              </Text>
            )}
            <ModelList />
          </TextField>
        </div>
        <details className="inner" open={hasSettings || undefined}>
          <summary>Model settings</summary>
          <div className="form">
            <Field
              label="Fallback models, one per line"
              value={fallbacks}
              onChange={(fallbacks) => change({ fallbacks })}
              rows={2}
              isCode
              placeholder="provider/model"
              hint="Used in this order when a model is down."
            />
            <div className="field-pair">
              <Choice
                label="Reasoning effort"
                value={effort}
                options={effortsWith("the project's setting")}
                onChange={(effort) => change({ effort })}
              />
              <Field
                label="Output limit (tokens)"
                type="number"
                value={outputLimit}
                onChange={(outputLimit) => change({ outputLimit })}
                placeholder="the project's setting"
              />
            </div>
          </div>
        </details>
        <Check
          label="Open the pull request as a draft"
          value={isDraft}
          onChange={(isDraft) => change({ draft: isDraft ? 'yes' : '' })}
        />
        <Problem error={create.error} />
        <Button type="submit" className="button button-primary" isDisabled={create.isPending}>
          {create.isPending ? 'Starting…' : 'Start job'}
        </Button>
      </Form>
    </div>
  );
}
