import type { ForgeKind } from '../../db/organizations/projects.ts';
import type { RepositoryAccess, Workspaces } from '../workspaces/workspaces.ts';

const maxTemplateBytes = 8 * 1024;
const atGithub = ['.github', '', 'docs'].flatMap((folder) =>
  ['pull_request_template.md', 'PULL_REQUEST_TEMPLATE.md'].map((name) => (folder === '' ? name : `${folder}/${name}`)),
);
const atGitea = ['.gitea', '.forgejo'].flatMap((folder) =>
  ['pull_request_template.md', 'PULL_REQUEST_TEMPLATE.md'].map((name) => `${folder}/${name}`),
);

/** Where a forge looks for the template, the first that is there counts. */
const templatePaths: Record<ForgeKind, readonly string[]> = {
  github: atGithub,
  gitea: [...atGitea, ...atGithub],
  gitlab: ['.gitlab/merge_request_templates/Default.md', '.gitlab/merge_request_templates/default.md'],
  local: atGithub,
};

/** The repository's template for pull requests as the base commit has it; null when it has none. */
export async function readPullRequestTemplate(
  workspaces: Pick<Workspaces, 'readFile'>,
  { access, commit, forge }: { access: RepositoryAccess; commit: string; forge: ForgeKind },
): Promise<string | null> {
  for (const path of templatePaths[forge]) {
    const file = await workspaces.readFile({ ...access, commit, path, maxBytes: maxTemplateBytes });
    if (file !== null) return new TextDecoder().decode(file.subarray(0, maxTemplateBytes));
  }
  return null;
}
