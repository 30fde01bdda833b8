import { parse, type ParseError } from 'jsonc-parser';
import { z } from 'zod';
import { shellWord } from '../shell-word.ts';
import { packagesOfFeatures, packagesOfScript } from './apt-packages.ts';
import {
  borrowed,
  hasCommands,
  plainImage,
  readParts,
  treePath,
  withPackages,
  type BorrowedEnvironment,
} from './borrowed.ts';
import { isVariableName } from './variable-name.ts';

/** Folder in which repositories describe development containers. */
export const devcontainerFolder = '.devcontainer';
/** Paths at which repositories describe a development container. */
export const devcontainerPaths = ['.devcontainer/devcontainer.json', '.devcontainer.json'];

/** Reports whether a path describes one of several containers, between which a person would choose. */
export function isNamedDevcontainer(path: string): boolean {
  return /^\.devcontainer\/[^/]+\/devcontainer\.json$/.test(path);
}

const line = z.union([z.string(), z.array(z.string())]);
const command = z.union([line, z.record(z.string(), line)]).nullish();
const variables = z.record(z.string(), z.string().nullable()).nullish();
const setupNames = ['onCreateCommand', 'updateContentCommand', 'postCreateCommand'] as const;
const commandNames = [...setupNames, 'postStartCommand'] as const;
const schema = z.looseObject({
  onCreateCommand: command,
  updateContentCommand: command,
  postCreateCommand: command,
  postStartCommand: command,
  containerEnv: variables,
  remoteEnv: variables,
});
/** Keys that only matter to an editor or to a person at it. */
const irrelevant = new Set([
  '$schema',
  'name',
  'customizations',
  'forwardPorts',
  'portsAttributes',
  'otherPortsAttributes',
  'postAttachCommand',
  'waitFor',
  'shutdownAction',
  'userEnvProbe',
]);

/** Variables that only an editor can fill in; in a shell they would be empty. */
const variableOfEditor = /\$\{((?:local|container)(?:Env|WorkspaceFolder|WorkspaceFolderBasename)|devcontainerId)\b/;

/** With any of these keys, or features other than packages, the container is built instead of started from `image`. */
const buildKeys = ['build', 'dockerFile', 'dockerComposeFile'];

/** Reads the image, the setup and start commands, and the variables of a `devcontainer.json`. */
export function readDevcontainer(content: string): BorrowedEnvironment {
  const wrong: string[] = [];
  const parsed = readParts(schema, parsedOrNull(content.replace(/^\uFEFF/, '')), wrong);
  if (parsed === null) return { environment: {}, ignored: ['everything, because it is not valid'] };
  const { containerEnv, remoteEnv, ...given } = parsed;
  const said = Object.keys(given).filter((key) => !isEmpty(given[key]));
  const ofFeatures = said.includes('features') ? packagesOfFeatures(given['features']) : [];
  const isBuilt = ofFeatures === null || said.some((key) => buildKeys.includes(key));
  const image = isBuilt ? null : plainImage(given['image']);
  const packages = image === null ? null : new Set(ofFeatures);
  const isRead = (key: string) =>
    commandNames.some((name) => name === key) || (image !== null && ['image', 'features'].includes(key));
  const ignored = [...wrong, ...said.filter((key) => !irrelevant.has(key) && !isRead(key))];
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...containerEnv, ...remoteEnv })) {
    if (value === null) continue;
    if (value.includes('${') || !isVariableName(name)) ignored.push(`the variable ${name}`);
    else set[name] = value;
  }
  const unknown = new Set<string>();
  const scriptOf = (...names: (typeof commandNames)[number][]) => {
    const commands = names.flatMap((name) => linesOf(given[name], packages));
    const understood = commands.flatMap((command) => {
      const resolved = command
        .replaceAll('${containerWorkspaceFolder}', treePath)
        .replaceAll('${containerWorkspaceFolderBasename}', 'tree');
      const variable = variableOfEditor.exec(resolved)?.[1];
      if (variable !== undefined) unknown.add(variable);
      return variable === undefined ? [resolved] : [];
    });
    return understood.join('\n');
  };
  const scripts = { setup: scriptOf(...setupNames), start: scriptOf('postStartCommand') };
  ignored.push(...[...unknown].map((variable) => `commands with \${${variable}}`));
  const named = Object.fromEntries(Object.entries(scripts).filter(([, script]) => script !== ''));
  return borrowed({ ...image, ...withPackages(packages), ...named, variables: set }, ignored);
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

function parsedOrNull(content: string): unknown {
  const errors: ParseError[] = [];
  try {
    const value: unknown = parse(content, errors, { allowTrailingComma: true });
    return errors.length > 0 ? null : value;
  } catch (error) {
    // the parser calls itself for each level of the file
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * Returns commands as shell text. Commands that only install packages add these to the list instead, if there is an
 * image to extend.
 */
function linesOf(given: z.infer<typeof command>, packages: Set<string> | null): string[] {
  if (given === null || given === undefined) return [];
  const installed = typeof given === 'string' && packages !== null ? packagesOfScript(given) : null;
  if (installed !== null) {
    for (const name of installed) packages?.add(name);
    return [];
  }
  if (typeof given === 'string') return hasCommands(given) ? [`( ${given}\n)`] : [];
  if (Array.isArray(given)) return given.length === 0 ? [] : [given.map(shellWord).join(' ')];
  return Object.values(given).flatMap((one) => linesOf(one, packages));
}
