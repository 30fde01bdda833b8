import { z } from 'zod';
import { packagesOfScript } from './apt-packages.ts';
import { readYaml } from '../inputs/yaml.ts';
import { shellWord } from '../shell-word.ts';
import {
  borrowed,
  hasCommands,
  plainImage,
  readParts,
  treePath,
  type BorrowedEnvironment,
  withPackages,
  type PlainImage,
} from './borrowed.ts';
import { environmentPath } from './environment.ts';
import { isVariableName } from './variable-name.ts';

/** Path of the workflow that sets up GitHub Copilot's coding agent. */
export const copilotSetupPath = '.github/workflows/copilot-setup-steps.yml';

const text = z.string().nullish();
const env = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable())
  .nullish()
  .transform((given) => given ?? {});
const step = z.looseObject({
  name: text,
  uses: text,
  with: z.record(z.string(), z.unknown()).nullish(),
  run: text,
  if: z.unknown().optional(),
  shell: text,
  env,
  'working-directory': text,
});
const defaults = z.looseObject({ run: z.looseObject({ shell: text, 'working-directory': text }).nullish() }).nullish();
type Step = z.infer<typeof step>;
const container = z.union([
  z.string().transform((image) => ({ image, env: {} })),
  z.looseObject({ image: z.string(), env }),
]);
const schema = z.looseObject({
  env,
  defaults,
  jobs: z.looseObject({
    'copilot-setup-steps': z.looseObject({
      env,
      defaults,
      container: z.unknown().optional(),
      services: z.unknown().optional(),
      steps: z.array(step.nullable()).max(100).nullish(),
    }),
  }),
});
/** Variables of the machine that runs the workflow. Nothing reads the summary and the outputs of its steps. */
const ofMachine: Record<string, string> = {
  GITHUB_WORKSPACE: treePath,
  GITHUB_STEP_SUMMARY: '/dev/null',
  GITHUB_OUTPUT: '/dev/null',
  RUNNER_OS: 'Linux',
  RUNNER_TEMP: '/tmp',
};
/**
 * Files through which a step passes variables (`NAME=value`) and folders of PATH (the last one first) to later steps and
 * to the agent.
 */
const files = ['GITHUB_ENV', 'GITHUB_PATH'];
const makeFiles = `export GITHUB_ENV=~/.github-env GITHUB_PATH=~/.github-path
: > ~/.github-env
: > ~/.github-path`;
const readFiles = `if [ -f ~/.github-path ]; then
  PATH=$(tac ~/.github-path | tr '\\n' ':')$PATH
  while IFS= read -r line; do
    case \${line%%=*} in '' | [0-9]* | *[!A-Za-z0-9_]*) ;; *) export "$line" ;; esac
  done < ~/.github-env
fi`;
/** Keys that matter only to the product that runs the workflow. */
const irrelevantToJob = new Set(['name', 'runs-on', 'permissions', 'timeout-minutes', 'concurrency', 'outputs']);
const readOfJob = new Set(['env', 'defaults', 'container', 'services', 'steps']);
const knownOfStep = new Set([
  'name',
  'id',
  'uses',
  'with',
  'run',
  'if',
  'shell',
  'env',
  'working-directory',
  'timeout-minutes',
]);
const toolOf: Record<string, string> = { node: 'Node.js', python: 'Python', go: 'Go', java: 'Java' };

/** Takes the image of the container, the `run` steps and the variables from a `copilot-setup-steps.yml`. */
export function readCopilotSetupSteps(content: string): BorrowedEnvironment {
  const ignored: string[] = [];
  const parsed = readParts(schema, parsedOrNull(content), ignored);
  if (parsed === null) return { environment: {}, ignored: ['everything, because it is not valid'] };
  const { env: ofWorkflow, jobs } = parsed;
  const job = jobs['copilot-setup-steps'];
  const { image, env: ofContainer } = containerOf(job.container, ignored);
  if (job.services !== undefined && job.services !== null)
    ignored.push(`the services: ${environmentPath} can install them with packages, and start them with start`);
  const { known: variables, unknown } = split({ ...ofContainer, ...ofWorkflow, ...job.env });
  ignored.push(...unknown);
  const unread = Object.keys(job).filter((key) => !irrelevantToJob.has(key) && !readOfJob.has(key));
  ignored.push(...unread.map((key) => `${key.slice(0, 50)} of the job`));
  const shell = job.defaults?.run?.shell ?? parsed.defaults?.run?.shell;
  const folder = job.defaults?.run?.['working-directory'] ?? parsed.defaults?.run?.['working-directory'];
  const packages = image === null ? null : new Set<string>();
  const scripts = (job.steps ?? []).flatMap((one, index) => {
    if (one === null) return [];
    const wanted = { ...one, shell: one.shell ?? shell, 'working-directory': one['working-directory'] ?? folder };
    return scriptOf(wanted, { index, variables, packages, ignored });
  });
  const usesFiles = files.some((file) => scripts.some((script) => script.includes(file)));
  const used = Object.entries(ofMachine).filter(([name]) => scripts.some((script) => script.includes(name)));
  const lines = [
    ...used.map(([name, value]) => `export ${name}=${value}`),
    ...(usesFiles ? [makeFiles, ...scripts.map((script) => `(\n${readFiles}\n${script}\n)`)] : scripts),
  ];
  const setup = scripts.length === 0 ? {} : { setup: lines.join('\n') };
  const profile = usesFiles ? { profile: readFiles } : {};
  return borrowed({ ...image, ...withPackages(packages), ...setup, ...profile, variables }, ignored);
}

function parsedOrNull(content: string): unknown {
  try {
    return readYaml(content, { maxAliases: 100 });
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Returns the image and the variables of a container. */
function containerOf(
  given: unknown,
  ignored: string[],
): Pick<z.infer<typeof container>, 'env'> & { image: PlainImage } {
  if (given === undefined || given === null) return { image: null, env: {} };
  const { image: name, env: variables = {}, ...more } = container.safeParse(given).data ?? {};
  const image = plainImage(name);
  if (image === null) ignored.push('the container');
  else ignored.push(...Object.keys(more).map((key) => `${key.slice(0, 50)} of the container`));
  return { image, env: variables };
}

interface StepScope {
  index: number;
  variables: Record<string, string>;
  /** Packages that steps install; null without an image to install them in. */
  packages: Set<string> | null;
  ignored: string[];
}

/**
 * Returns a step as shell text, or nothing, and adds what was ignored to the list. A step that only installs packages
 * adds these instead.
 */
function scriptOf(one: Step, { index, variables, packages, ignored }: StepScope): string[] {
  const name = `the step "${(one.name ?? one.uses ?? `number ${index + 1}`).slice(0, 60)}"`;
  const { uses, run, if: condition, 'working-directory': folder } = one;
  if (typeof uses === 'string') {
    ignored.push(...ignoredOfAction(uses, one.with ?? {}, name));
    return [];
  }
  if (typeof run !== 'string' || !hasCommands(run)) return [];
  const { known, unknown } = split(one.env);
  const isUnderstood =
    (condition === undefined || condition === null) &&
    unknown.length === 0 &&
    !run.includes('${{') &&
    folder?.includes('${{') !== true &&
    ['bash', 'sh'].includes(one.shell ?? 'bash');
  if (!isUnderstood) {
    ignored.push(name);
    return [];
  }
  const unread = Object.keys(one).filter((key) => !knownOfStep.has(key));
  ignored.push(...unread.map((key) => `${key.slice(0, 50)} of ${name}`));
  const installed = packages === null ? null : packagesOfScript(run);
  if (installed !== null) {
    for (const name of installed) packages?.add(name);
    return [];
  }
  const set = new Set([...Object.keys({ ...ofMachine, ...variables, ...known }), ...files]);
  const missing = new Set(run.match(/\b(?:GITHUB|RUNNER)_[A-Z_]+\b/g)).difference(set);
  ignored.push(...[...missing].map((variable) => `${variable.slice(0, 50)} in ${name}`));
  const exports = Object.entries(known).map(([key, value]) => `export ${key}=${shellWord(value)}`);
  return [['(', ...(typeof folder === 'string' ? [`cd ${shellWord(folder)}`] : []), ...exports, run, ')'].join('\n')];
}

/** Returns the parts of an action's step that are ignored. A checkout needs none: the working copy is already there. */
function ignoredOfAction(action: string, settings: Record<string, unknown>, name: string): string[] {
  if (action.startsWith('actions/checkout@')) {
    const isSet = (key: string) => ![undefined, null, '', false, 'false'].some((value) => value === settings[key]);
    return ['repository', 'path', 'submodules', 'lfs'].filter(isSet).map((key) => `${key} of ${name}`);
  }
  const [, tool] = /^actions\/setup-(node|python|go|java)@/.exec(action) ?? [];
  if (tool === undefined) return [name];
  const version = settings[`${tool}-version`];
  const label = toolOf[tool] ?? tool;
  const wanted = version === undefined ? label : `${label} ${String(version).slice(0, 20)}`;
  return [`the wish for ${wanted}: jobs use what the worker has, or what setup installs`];
}

function split(given: z.infer<typeof env>): { known: Record<string, string>; unknown: string[] } {
  const known: Record<string, string> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    // GitHub reads an empty value as an empty text
    const written = String(value ?? '');
    if (isVariableName(name) && !written.includes('${{')) known[name] = written;
    else unknown.push(`the variable ${name.slice(0, 50)}`);
  }
  return { known, unknown };
}
