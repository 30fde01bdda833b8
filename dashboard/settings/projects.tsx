import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '../components/confirm.tsx';
import { Only } from '../components/session.tsx';
import { Loaded } from '../components/loaded.tsx';
import { LongList } from '../components/long-list.tsx';
import { hasDraft } from '../drafts.ts';
import { allPages } from '../http/all-pages.ts';
import { answerOf, api, done } from '../http/client.ts';
import type { Project } from '../http/types.ts';
import { queryClient, sessionQuery } from '../queries.ts';
import { GuidancePanel } from './guidance-form.tsx';
import { McpServersPanel } from './mcp-servers-form.tsx';
import { draftNameOf, ProjectForm } from './project-form.tsx';
import { SecretsPanel } from './secrets-panel.tsx';

const queryKey = ['projects'];

async function refresh(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey });
  await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

async function readProjects() {
  const pages = await allPages((query) => answerOf(api.GET('/v1/projects', { params: { query } })));
  return { projects: pages.flatMap((page) => page.projects) };
}

/** Shows the repositories that jobs work on, and the permissions of jobs there. */
export function ProjectsPage() {
  const projects = useQuery({ queryKey, queryFn: readProjects });
  return (
    <Loaded query={projects} problem="Projects could not be loaded">
      {({ projects }) => (
        <>
          <LongList
            items={projects}
            what="projects"
            textOf={({ name, repository, id }) => `${name} ${repository} ${id}`}
          >
            {(shown) => shown.map((project) => <ProjectPanel key={project.id} project={project} />)}
          </LongList>
          <Only role="admin">
            <details className="panel">
              <summary>New project</summary>
              <ProjectForm project={null} onSaved={refresh} />
            </details>
          </Only>
        </>
      )}
    </Loaded>
  );
}

/** Shows the settings of a project, once they are opened or while they have unsaved changes. */
function ProjectPanel({ project }: { project: Project }) {
  const [isOpen, setIsOpen] = useState(() => hasDraft(draftNameOf(project)));
  return (
    <details className="panel" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        {project.name} <code className="quiet">{project.repository}</code>{' '}
        <span className="badge">{project.forge}</span>
        {project.hasForgeToken && <span className="badge badge-good">own forge token</span>}
      </summary>
      {isOpen && (
        <>
          <ProjectForm project={project} onSaved={refresh} />
          <GuidancePanel projectId={project.id} />
          <McpServersPanel projectId={project.id} />
          <SecretsPanel projectId={project.id} />
        </>
      )}
      <Only role="admin">
        <div className="danger">
          <p className="hint">Also deletes its jobs, webhooks and credentials.</p>
          <Confirm
            label="Delete project"
            what="Delete"
            title={`Delete ${project.name}?`}
            text="This also deletes its jobs, webhooks and credentials, and stops work in progress. Branches and pull requests remain. This cannot be undone."
            act={() => done(api.DELETE('/v1/projects/{id}', { params: { path: { id: project.id } } }))}
            onDone={refresh}
          />
        </div>
      </Only>
    </details>
  );
}
