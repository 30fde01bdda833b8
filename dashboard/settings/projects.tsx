import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { Check, Field, linesOf, Submit } from '../components/fields.tsx';
import { ErrorNote, Loading } from '../components/notes.tsx';
import { answerOf, api, messageOf } from '../http/client.ts';
import type { Project } from '../http/types.ts';
import { queryClient, sessionQuery } from '../queries.ts';

const queryKey = ['projects'];

async function refresh(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey });
  await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

/** Repositories that jobs work on, and what jobs may do there. */
export function ProjectsPage() {
  const projects = useQuery({ queryKey, queryFn: () => answerOf(api.GET('/v1/projects')) });
  if (projects.isPending) return <Loading />;
  if (projects.isError) return <ErrorNote title="The projects could not be read" message={messageOf(projects.error)} />;
  return (
    <>
      {projects.data.projects.map((project) => (
        <details key={project.id} className="panel">
          <summary>
            <strong>{project.name}</strong> <code className="quiet">{project.repository}</code>{' '}
            <span className="badge">{project.forge}</span>
          </summary>
          <ProjectForm project={project} />
        </details>
      ))}
      <details className="panel">
        <summary>
          <strong>New project</strong>
        </summary>
        <NewProject />
      </details>
    </>
  );
}

function amountOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

function ProjectForm({ project }: { project: Project }) {
  const [name, setName] = useState(project.name);
  const [ref, setRef] = useState(project.defaultRef ?? '');
  const [model, setModel] = useState(project.model ?? '');
  const [allowed, setAllowed] = useState(project.allowedRepositories.join('\n'));
  const [paths, setPaths] = useState(project.allowedPaths.join('\n'));
  const [reviewers, setReviewers] = useState(project.reviewers.join('\n'));
  const [labels, setLabels] = useState(project.labels.join('\n'));
  const [mayChangeWorkflows, setWorkflows] = useState(project.mayChangeWorkflows);
  const [jobBudget, setJobBudget] = useState(project.jobBudgetUsd?.toString() ?? '');
  const [dailyBudget, setDailyBudget] = useState(project.dailyBudgetUsd?.toString() ?? '');
  const [token, setToken] = useState('');
  const [removesToken, setRemovesToken] = useState(false);
  const change = useMutation({
    mutationFn: () =>
      answerOf(
        api.PATCH('/v1/projects/{id}', {
          params: { path: { id: project.id } },
          body: {
            name,
            defaultRef: ref.trim() || null,
            model: model.trim() || null,
            allowedRepositories: linesOf(allowed),
            allowedPaths: linesOf(paths),
            reviewers: linesOf(reviewers),
            labels: linesOf(labels),
            mayChangeWorkflows,
            jobBudgetUsd: amountOf(jobBudget),
            dailyBudgetUsd: amountOf(dailyBudget),
            ...(removesToken ? { forgeToken: null } : token === '' ? {} : { forgeToken: token }),
          },
        }),
      ),
    onSuccess: () => {
      setToken('');
      setRemovesToken(false);
      return refresh();
    },
  });
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <p className="quiet">
        Identifier <code>{project.id}</code>
      </p>
      <div className="field-pair">
        <Field label="Name" value={name} onChange={setName} isRequired />
        <Field label="Branch" value={ref} onChange={setRef} isCode placeholder="the default branch" />
        <Field label="Model" value={model} onChange={setModel} isCode placeholder="the service's default" />
        <div />
        <Field
          label="Dollars a turn may cost"
          value={jobBudget}
          onChange={setJobBudget}
          placeholder="no limit of its own"
        />
        <Field label="Dollars a day" value={dailyBudget} onChange={setDailyBudget} placeholder="no limit of its own" />
        <Field label="Further repositories, one a line" value={allowed} onChange={setAllowed} rows={2} isCode />
        <Field
          label="Paths that jobs may change, one a line"
          value={paths}
          onChange={setPaths}
          rows={2}
          isCode
          placeholder="everything"
        />
        <Field label="Reviewers, one a line" value={reviewers} onChange={setReviewers} rows={2} isCode />
        <Field label="Labels, one a line" value={labels} onChange={setLabels} rows={2} isCode />
      </div>
      <Check
        label="Jobs may change what the forge runs by itself (such as .github/workflows)"
        isSelected={mayChangeWorkflows}
        onChange={setWorkflows}
      />
      {project.forge !== 'local' && (
        <>
          <Field
            label="Token for the forge"
            type="password"
            value={token}
            onChange={setToken}
            isCode
            placeholder={project.hasForgeToken ? 'it has one; a new one replaces it' : "the worker's own"}
            hint="It is stored sealed and never shown."
          />
          {project.hasForgeToken && (
            <Check label="Remove its token" isSelected={removesToken} onChange={setRemovesToken} />
          )}
        </>
      )}
      <Submit label="Save" action={change} />
    </Form>
  );
}

function NewProject() {
  const [repository, setRepository] = useState('');
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v1/projects', {
          body: { repository: repository.trim(), ...(name.trim() === '' ? {} : { name: name.trim() }) },
        }),
      ),
    onSuccess: () => {
      setRepository('');
      setName('');
      return refresh();
    },
  });
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <Field
        label="Repository"
        value={repository}
        onChange={setRepository}
        isRequired
        isCode
        placeholder="https://github.com/acme/docs"
        hint="An https address on an allowed host, or a path below the local root."
      />
      <Field label="Name" value={name} onChange={setName} placeholder="the last part of the repository" />
      <Submit label="Make the project" action={create} />
    </Form>
  );
}
