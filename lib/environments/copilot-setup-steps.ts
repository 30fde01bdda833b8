import { z } from 'zod';
import { readYaml } from '../inputs/yaml.ts';
import { shellWord } from '../shell-word.ts';
import { borrowed, plainImage, type BorrowedEnvironment, type PlainImage } from './borrowed.ts';
import { isVariableName } from './variable-name.ts';

/** Path of the workflow that sets up GitHub Copilot's coding agent. */
export const copilotSetupPath = '.github/workflows/copilot-setup-steps.yml';

const env = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({});
const step = z.looseObject({
  name: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  run: z.string().optional(),
  if: z.unknown().optional(),
  shell: z.string().optional(),
  env,
  'working-directory': z.string().optional(),
});
const defaults = z
  .looseObject({
    run: z.looseObject({ shell: z.string().optional(), 'working-directory': z.string().optional() }).default({}),
  })
  .default({ run: {} });
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
      steps: z.array(step).max(100).default([]),
    }),
  }),
});
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
  const parsed = schema.safeParse(parsedOrNull(content));
  if (!parsed.success) return { environment: {}, ignored: ['everything, because it is not valid'] };
  const { env: ofWorkflow, jobs } = parsed.data;
  const job = jobs['copilot-setup-steps'];
  const ignored: string[] = [];
  const { image, env: ofContainer } = containerOf(job.container, ignored);
  if (job.services !== undefined) ignored.push('the services');
  const { known: variables, unknown } = split({ ...ofContainer, ...ofWorkflow, ...job.env });
  ignored.push(...unknown);
  const unread = Object.keys(job).filter((key) => !irrelevantToJob.has(key) && !readOfJob.has(key));
  ignored.push(...unread.map((key) => `${key.slice(0, 50)} of the job`));
  const ofRun = { ...parsed.data.defaults.run, ...job.defaults.run };
  const scripts = job.steps.flatMap((one, index) => scriptOf({ ...ofRun, ...one }, index, ignored));
  const setup = scripts.length === 0 ? {} : { setup: scripts.join('\n') };
  return borrowed({ ...image, ...setup, variables }, ignored);
}

function parsedOrNull(content: string): unknown {
  try {
    return readYaml(content, { mostAliases: 100 });
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

/** Returns a step as shell text, or nothing, with what was ignored. */
function scriptOf(one: Step, index: number, ignored: string[]): string[] {
  const name = `the step "${(one.name ?? one.uses ?? `number ${index + 1}`).slice(0, 60)}"`;
  if (one.uses !== undefined) {
    const [, tool] = /^actions\/setup-(node|python|go|java)@/.exec(one.uses) ?? [];
    if (tool !== undefined) {
      const version = one.with?.[`${tool}-version`];
      const label = toolOf[tool] ?? tool;
      const wanted = version === undefined ? label : `${label} ${String(version).slice(0, 20)}`;
      ignored.push(`the wish for ${wanted}: jobs use what the worker has, or what setup installs`);
    } else if (!one.uses.startsWith('actions/checkout@')) ignored.push(name);
    return [];
  }
  if (one.run === undefined) return [];
  const { known, unknown } = split(one.env);
  const folder = one['working-directory'];
  const isUnderstood =
    one.if === undefined &&
    unknown.length === 0 &&
    !/\$\{\{|GITHUB_(?:ENV|PATH|OUTPUT)/.test(one.run) &&
    folder?.includes('${{') !== true &&
    ['bash', 'sh'].includes(one.shell ?? 'bash');
  if (!isUnderstood) {
    ignored.push(name);
    return [];
  }
  const unread = Object.keys(one).filter((key) => !knownOfStep.has(key));
  ignored.push(...unread.map((key) => `${key.slice(0, 50)} of ${name}`));
  const exports = Object.entries(known).map(([key, value]) => `export ${key}=${shellWord(value)}`);
  return [['(', ...(folder === undefined ? [] : [`cd ${shellWord(folder)}`]), ...exports, one.run, ')'].join('\n')];
}

function split(given: z.infer<typeof env>): { known: Record<string, string>; unknown: string[] } {
  const known: Record<string, string> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (isVariableName(name) && !String(value).includes('${{')) known[name] = String(value);
    else unknown.push(`the variable ${name.slice(0, 50)}`);
  }
  return { known, unknown };
}
