import { createHash } from 'node:crypto';
import type { Environment } from '../../lib/environments/environment.ts';
import { compileGlob } from '../../search/read/glob.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';

/** Version of what a layer holds; a layer of another version is never used. */
const format = 1;

/** Files that name what a project depends on, in any folder. */
const usualInputs = [
  'package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock .npmrc',
  'pyproject.toml setup.py setup.cfg requirements*.txt poetry.lock uv.lock Pipfile.lock',
  'go.mod go.sum Cargo.toml Cargo.lock Gemfile Gemfile.lock composer.lock mix.lock',
  'pom.xml build.gradle* settings.gradle* gradle.lockfile gradle-wrapper.properties',
  '.tool-versions .nvmrc .node-version .python-version rust-toolchain*',
].flatMap((names) => names.split(' ').map((name) => `**/${name}`));

export interface LayerKeyRequest {
  environment: Environment;
  /** Names of the project's secrets: one that was added may change what setup installs. */
  secretNames: readonly string[];
  /** Kind of the sandbox that setup runs in. */
  kind: string;
  /** Content of the image that setup runs in; null for the worker's own programs. */
  imageId: string | null;
  commit: string;
  access: RepositoryAccess;
}

/** Returns the key of what a setup installs: a hash of everything that the result depends on. */
export async function layerKeyOf(
  workspaces: Pick<Workspaces, 'listFiles'>,
  { environment, secretNames, kind, imageId, commit, access }: LayerKeyRequest,
): Promise<string> {
  const globs = (environment.inputs ?? usualInputs).map((glob) => compileGlob(glob));
  const inputs = await workspaces.listFiles({
    ...access,
    commit,
    isWanted: (path) => globs.some((fits) => fits(path)),
  });
  const { setup, path, variables } = environment;
  const { repository } = access;
  const system = imageId === null ? kind : `${kind}/image-${imageId}`;
  const parts = [format, system, repository, setup, path, variables, secretNames.toSorted(), inputs];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
}
