import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../components/loaded.tsx';
import { allPages } from '../http/all-pages.ts';
import { answerOf, api } from '../http/client.ts';
import { queryClient, sessionQuery } from '../queries.ts';
import { ProjectForm } from './project-form.tsx';

const queryKey = ['projects'];

async function refresh(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey });
  await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

async function readProjects() {
  const pages = await allPages((query) => answerOf(api.GET('/v1/projects', { params: { query } })));
  return { projects: pages.flatMap((page) => page.projects) };
}

/** Repositories that jobs work on, and what jobs may do there. */
export function ProjectsPage() {
  const projects = useQuery({ queryKey, queryFn: readProjects });
  return (
    <Loaded query={projects} problem="The projects could not be read">
      {({ projects }) => (
        <>
          {projects.map((project) => (
            <details key={project.id} className="panel">
              <summary>
                {project.name} <code className="quiet">{project.repository}</code>{' '}
                <span className="badge">{project.forge}</span>
                {project.hasForgeToken && <span className="badge badge-good">has its own token</span>}
              </summary>
              <ProjectForm project={project} onSaved={refresh} />
            </details>
          ))}
          <details className="panel">
            <summary>New project</summary>
            <ProjectForm project={null} onSaved={refresh} />
          </details>
        </>
      )}
    </Loaded>
  );
}
