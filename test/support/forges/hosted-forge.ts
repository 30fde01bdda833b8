import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { operatorOf } from '../../../db/caller.ts';
import { createGrantAdministration } from '../../../db/for-operator/grants.ts';
import { answerOf, type Api } from '../../../cli/http/api.ts';
import { createTestAuthority } from '../servers/test-authority.ts';
import { createFakeGithub, type FakeGithub } from './fake-github.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

/** A forge that a whole stack can use: it speaks TLS, with a certificate that the stack trusts. */
export interface HostedForge extends AsyncDisposable {
  github: FakeGithub;
  /** Variables for the stack, with the worker's own credential. */
  env: Record<string, string>;
}

/** The token that a project may have of its own; the worker has another one. */
export const projectToken = 'ghs_projectTOKEN0123456789abcdefg';

export async function startHostedForge(): Promise<HostedForge> {
  await using started = new AsyncDisposableStack();
  const folder = temporaryDirectory();
  const authority = await createTestAuthority();
  const github = started.use(await createFakeGithub({ certificate: await authority.issue('localhost') }));
  github.tokens.add(projectToken);
  const certificate = join(folder, 'authority.pem');
  await writeFile(certificate, authority.certificate);
  const env = {
    NODE_EXTRA_CA_CERTS: certificate,
    GITHUB_API_URL: github.apiUrl,
    GITHUB_TOKEN: github.token,
    DOCKET_ALLOWED_HOSTS: `github.com,${new URL(github.origin).host}`,
  };
  const running = started.move();
  return { github, env, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

interface HostedProject {
  api: Api;
  model: string;
  /** Name of the repository below `acme`. */
  name: string;
  files?: Record<string, string>;
}

/** Creates a repository on the forge, and a project for it with its own token. Returns the id of the project. */
export async function createHostedProject({ github }: HostedForge, { api, model, name, files }: HostedProject) {
  const { url: repository } = await github.addRepository(`acme/${name}`, files);
  const body = { repository, name, model, forge: 'github', forgeToken: projectToken } as const;
  const { id } = await answerOf(api.POST('/v1/projects', { body }));
  return id;
}

/**
 * Removes the project's own token, so that only the worker's credential is left, which may push branches but not merge.
 * `give` grants merges as well.
 */
export async function withoutMergeGrant(
  { github }: HostedForge,
  { api, pool, projectId }: { api: Api; pool: Pool; projectId: string },
) {
  const { rows } = await pool.query('select organization_id as "organizationId" from projects where id = $1', [
    projectId,
  ]);
  const operator = operatorOf(rows[0]);
  const grants = createGrantAdministration(pool);
  await grants.grant(operator, `${github.origin}/acme/*`);
  const params = { path: { id: projectId } };
  await answerOf(api.PATCH('/v1/projects/{id}', { params, body: { forgeToken: null } }));
  await grants.revoke(operator, '*');
  return { give: () => grants.grant(operator, `merge:${github.origin}/acme/*`) };
}
