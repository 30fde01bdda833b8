import { useMutation } from '@tanstack/react-query';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { Check, Field, fieldsOf } from '../components/fields.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import type { Project } from '../http/types.ts';
import { effortsWith } from '../jobs/effort.ts';
import { changeOf, draftOf, type ProjectDraft } from './project-draft.ts';

const forges = [
  ['', 'detected from the repository host'],
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['gitea', 'Gitea or Forgejo'],
  ['local', 'local: pages of this dashboard'],
] as const;

/** Returns the key of the form's draft. */
export function draftNameOf(project: Project | null): string {
  return project === null ? 'new project' : `project ${project.id}`;
}

/** Creates a project or updates the given one. A token can be set but is never shown. */
export function ProjectForm({ project, onSaved }: { project: Project | null; onSaved(): unknown }) {
  const form = useDraft(draftNameOf(project), draftOf(project));
  const draft = form.values;
  const { forge } = draft;
  const address = draft.repository.trim();
  const request = () =>
    project === null
      ? answerOf(
          api.POST('/v1/projects', {
            body: { ...changeOf(draft), repository: address, ...(forge === '' ? {} : { forge }) },
          }),
        )
      : answerOf(
          api.PATCH('/v1/projects/{id}', {
            params: { path: { id: project.id } },
            body: { ...changeOf(draft), ...(address === project.repository ? {} : { repository: address }) },
          }),
        );
  const save = useMutation({
    mutationFn: () =>
      form.send(async () => {
        await request();
        await onSaved();
      }),
  });
  const field = fieldsOf(draft, form.change);
  const settings = <Settings draft={draft} onChange={form.change} />;
  const repository = (
    <Field
      label="Repository"
      {...field('repository')}
      isRequired
      isCode
      placeholder="https://github.com/acme/docs"
      hint={
        project === null
          ? 'An https URL on an allowed host, or a path below the local root.'
          : 'Another repository on the same forge. Existing jobs keep theirs.'
      }
    />
  );
  return (
    <ActionForm label={project === null ? 'Create project' : 'Save'} action={save} draft={form}>
      {project === null ? (
        <>
          {repository}
          <div className="field-pair">
            <Field label="Name" {...field('name')} placeholder="defaults to the repository's name" />
            <Choice label="Forge" {...field('forge')} options={forges} />
          </div>
        </>
      ) : (
        <>
          <p className="quiet">
            Identifier <code>{project.id}</code>
          </p>
          {repository}
          <Field label="Name" {...field('name')} isRequired />
        </>
      )}
      {project === null ? (
        <details className="inner">
          <summary>Settings</summary>
          <div className="form">{settings}</div>
        </details>
      ) : (
        settings
      )}
      {(project?.forge ?? forge) !== 'local' && (
        <>
          <Field
            label="Forge token"
            type="password"
            {...field('forgeToken')}
            isCode
            placeholder={project?.hasForgeToken === true ? 'set; a new token replaces it' : "the worker's own"}
            hint="Stored encrypted and never shown again."
          />
          {project?.hasForgeToken === true && <Check label="Remove the token" {...field('removesToken')} />}
        </>
      )}
    </ActionForm>
  );
}

const none = 'no limit';
const selfReviews = [
  ['', "the service's setting"],
  ['on', 'before a change is published'],
  ['off', 'off'],
] as const;

function Settings({ draft, onChange }: { draft: ProjectDraft; onChange(changed: Partial<ProjectDraft>): void }) {
  const field = fieldsOf(draft, onChange);
  return (
    <>
      <div className="field-pair">
        <Field label="Branch" {...field('defaultRef')} isCode placeholder="default branch" />
        <Field label="Forge URL" {...field('forgeUrl')} isCode placeholder="derived from the repository" />
      </div>
      <h3>Models</h3>
      <Field
        label="Models, one per line"
        {...field('models')}
        rows={2}
        isCode
        placeholder="service default"
        hint="Jobs use the first model. The others are fallbacks, used in this order when a model is down."
      />
      <div className="field-triple">
        <Choice label="Reasoning effort" {...field('reasoningEffort')} options={effortsWith("the model's own")} />
        <Field
          label="Output limit (tokens)"
          {...field('maxOutputTokens')}
          type="number"
          placeholder="the model's own"
        />
        <Choice label="Self-review" {...field('selfReview')} options={selfReviews} />
      </div>
      <h3>Limits</h3>
      <div className="field-pair">
        <Field label="Budget per turn (USD)" {...field('jobBudgetUsd')} placeholder={none} />
        <Field label="Budget per day (USD)" {...field('dailyBudgetUsd')} placeholder={none} />
        <Field
          label="Paths jobs may change, one per line"
          {...field('allowedPaths')}
          rows={2}
          isCode
          placeholder="everything"
        />
        <Field label="Additional repositories, one per line" {...field('allowedRepositories')} rows={2} isCode />
      </div>
      <Check label="Jobs may change CI configuration (such as .github/workflows)" {...field('mayChangeWorkflows')} />
      <Check label="Agents may run commands (needs a worker with a sandbox)" {...field('mayRun')} />
      <Check label="Require approval of a plan before anything is changed" {...field('isReviewed')} />
      <Check label="Agents may ask questions and wait for an answer" {...field('mayAsk')} />
      <Field
        label="Check command: must succeed before a change is published"
        {...field('checkCommand')}
        isCode
        placeholder="npm test"
      />
      <Field
        label="Environment, in YAML"
        {...field('environment')}
        isCode
        rows={6}
        placeholder="setup: npm ci"
        hint="Replaces the repository's .docket/environment.yml."
      />
      <Field
        label="Websites that agents may fetch, one host per line"
        {...field('fetchHosts')}
        rows={2}
        isCode
        placeholder="none"
        hint="docs.example.com, or *.example.com for all hosts below it."
      />
      <h3>Pull requests</h3>
      <div className="field-triple">
        <Field label="Reviewers, one per line" {...field('reviewers')} rows={2} isCode />
        <Field label="Labels, one per line" {...field('labels')} rows={2} isCode />
        <Field label="Assignees, one per line" {...field('assignees')} rows={2} isCode />
      </div>
    </>
  );
}
