import { createHash } from 'node:crypto';
import type { Environment } from '../../lib/environments/environment.ts';
import { compileGlob } from '../../lib/inputs/glob.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';

/** Version of what a layer holds; a layer of another version is never used. */
const format = 1;

/** Files that name what a project depends on, in any folder. */
const usualInputs = [
  'package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-workspace.yaml yarn.lock .npmrc .yarnrc.yml',
  'bun.lock bun.lockb bunfig.toml deno.json deno.jsonc deno.lock',
  'pyproject.toml setup.py setup.cfg requirements*.txt **/requirements/*.txt constraints*.txt poetry.lock pdm.lock uv.lock',
  'Pipfile Pipfile.lock environment.yml environment.yaml conda-lock.yml',
  'go.mod go.sum go.work go.work.sum Cargo.toml Cargo.lock .cargo/config.toml',
  'Gemfile Gemfile.lock *.gemspec composer.json composer.lock mix.exs mix.lock',
  'pom.xml build.gradle* settings.gradle* gradle.properties gradle.lockfile gradle-wrapper.properties',
  '**/gradle/*.versions.toml',
  '*.csproj *.fsproj packages.lock.json Directory.Packages.props Directory.Build.props global.json NuGet.Config',
  'mise.toml .mise.toml .tool-versions .nvmrc .*-version rust-toolchain*',
].flatMap((names) => names.split(' '));

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
  const isInput = inputsOf(environment);
  const inputs = await workspaces.listFiles({
    ...access,
    commit,
    isWanted: isInput,
  });
  const { setup, path, variables } = environment;
  const { repository } = access;
  const system = imageId === null ? kind : `${kind}/image-${imageId}`;
  const parts = [format, system, repository, setup, path, variables, secretNames.toSorted(), inputs];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
}

/** Returns a test of the paths that a setup depends on. */
function inputsOf({ inputs, setup = '' }: Environment): (path: string) => boolean {
  if (inputs !== undefined) return anyOf(inputs);
  const isPattern = (name: string) => name.includes('*');
  const fits = anyOf(usualInputs.filter(isPattern));
  const names = new Set([...usualInputs.filter((name) => !isPattern(name)), ...wordsOf(setup)]);
  return (path) => tailsOf(path).some((tail) => names.has(tail)) || fits(path);
}

function anyOf(globs: readonly string[]): (path: string) => boolean {
  const compiled = globs.map((glob) => compileGlob(glob));
  return (path) => compiled.some((fits) => fits(path));
}

/** Returns the words of a script: among them are the files of the repository that it runs or reads. */
function wordsOf(script: string): Set<string> {
  const words = script.split(/[\s"'`;&|()<>={}]+/);
  return new Set(words.map((word) => word.replace(/^(?:\/tree\/|(?:\.\/)+)/, '')));
}

/** Returns a path as scripts in its folder and in those above it write it. */
function tailsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(at).join('/'));
}
