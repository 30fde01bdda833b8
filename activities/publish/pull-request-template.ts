import { cutToBytes } from '../tools/tool-output.ts';
import type { ForgeKind } from '../../db/organizations/projects.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import type { RepositoryAccess } from '../git/remote.ts';

const maxTemplateBytes = 8 * 1024;
const atGithub = ['.github', '', 'docs'].flatMap((folder) =>
  ['pull_request_template.md', 'PULL_REQUEST_TEMPLATE.md'].map((name) => (folder === '' ? name : `${folder}/${name}`)),
);
const atGitea = ['.gitea', '.forgejo'].flatMap((folder) =>
  ['pull_request_template.md', 'PULL_REQUEST_TEMPLATE.md'].map((name) => `${folder}/${name}`),
);

/** Paths where each forge looks for the template; the first existing one wins. */
const templatePaths: Record<ForgeKind, readonly string[]> = {
  github: atGithub,
  gitea: [...atGitea, ...atGithub],
  gitlab: ['.gitlab/merge_request_templates/Default.md', '.gitlab/merge_request_templates/default.md'],
  local: atGithub,
};

/** Returns the repository's pull request template at the base commit, or null if it has none. */
export async function readPullRequestTemplate(
  workspaces: Pick<Workspaces, 'readFirst'>,
  { access, commit, forge }: { access: RepositoryAccess; commit: string; forge: ForgeKind },
): Promise<string | null> {
  const paths = templatePaths[forge];
  const file = await workspaces.readFirst({ ...access, commit, paths, maxBytes: maxTemplateBytes + 1 });
  return file === null ? null : cutToBytes(new TextDecoder().decode(file.content), maxTemplateBytes);
}
