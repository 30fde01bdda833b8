import { z } from 'zod';
import { globSchema } from '../inputs/glob.ts';
import { parseImageName } from '../inputs/image-name.ts';
import { parseRunHosts } from '../inputs/run-hosts.ts';
import { readYaml } from '../inputs/yaml.ts';
import { isVariableName } from './variable-name.ts';

/** Path of a repository's own description of where its jobs run. */
export const environmentPath = '.docket/environment.yml';
/** A path that people use by mistake. */
export const misspelledPath = '.docket/environment.yaml';
/** Longest description, in characters. */
export const maxEnvironmentLength = 64 * 1024;

const text = (max: number, problem = 'must be a text') =>
  z
    .string(problem)
    .max(max, `must have at most ${max} characters`)
    .refine((value) => !value.includes('\0') && value.isWellFormed(), 'contains a NUL or an unpaired surrogate');
const script = (max: number) => text(max).refine((value) => value.trim() !== '', 'must not be empty');
const whole = (min: number, max: number) =>
  z
    .int(`must be a whole number from ${min} to ${max}`)
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);

const hostList = z
  .array(text(300))
  .max(100, 'may have at most 100 hosts')
  .transform((hosts, context) => {
    const parsed = parseRunHosts(hosts.join(','));
    if (parsed.ok) return parsed.hosts;
    context.addIssue({ code: 'custom', message: parsed.problem });
    return z.NEVER;
  });

const variables = z
  .record(z.string(), text(8_192, 'must be a text, or "" for an empty one'), 'must be names with texts')
  .superRefine((given, context) => {
    if (Object.keys(given).length > 100) context.addIssue({ code: 'custom', message: 'may have at most 100 names' });
    const wrong = Object.keys(given).find((name) => !isVariableName(name));
    if (wrong !== undefined)
      context.addIssue({
        code: 'custom',
        message: `cannot set "${wrong.slice(0, 50)}"; use letters, digits and _, and no name that the sandbox or the shell sets`,
      });
  });

/** Name of a Debian package, or `name=version`. To apt-get, a hyphen after a name would mean to remove the package. */
const packageName = /^[a-z\d][a-z\d.+-]{1,99}(?<!-)(?:=[A-Za-z\d][A-Za-z\d.+:~-]{0,99})?$/;

/** Reports whether a text is the name of a package, or `name=version`. */
export const isPackageName = (text: string): boolean => packageName.test(text);

const schema = z.strictObject({
  image: text(500)
    .refine((name) => parseImageName(name) !== null, 'must be the name of an image')
    .optional(),
  packages: z
    .array(
      text(201).refine(isPackageName, 'must be the name of a Debian package, or name=version'),
      'must be a list of packages',
    )
    .max(100, 'may have at most 100 packages')
    .optional(),
  setup: script(32_768).optional(),
  /** These two run before each command and are passed in the same argument, which Linux limits to 128 KB. */
  start: script(8_192).optional(),
  profile: script(8_192).optional(),
  check: text(4_096).optional(),
  path: z
    .array(text(500).regex(/^(?:~(?=\/|$)|\/)[^:\0]*$/, 'must be folders that begin with / or ~/'))
    .max(20, 'may have at most 20 folders')
    .optional(),
  variables: variables.optional(),
  hosts: z.strictObject({ setup: hostList.optional(), agent: hostList.optional() }).optional(),
  inputs: z.array(text(300).pipe(globSchema)).max(100, 'may have at most 100 paths').optional(),
  limits: z
    .strictObject({
      memoryMb: whole(64, 1_000_000).optional(),
      processes: whole(16, 100_000).optional(),
      cpus: whole(1, 10_000).optional(),
      diskGb: z.number('must be a number').positive('must be above 0').max(10_000, 'must be at most 10000').optional(),
      seconds: whole(1, 480).optional(),
      setupSeconds: whole(1, 1_080).optional(),
    })
    .optional(),
});

/** Where the jobs of a project run, as far as the project decides. */
export type Environment = z.infer<typeof schema>;

export type ParsedEnvironment = { ok: true; environment: Environment } | { ok: false; problem: string };

/** Parses a description. The problem is the end of a sentence, whose subject is the description's name. */
export function parseEnvironment(content: string): ParsedEnvironment {
  if (content.length > maxEnvironmentLength) return fail(`is longer than ${maxEnvironmentLength / 1024} KB`);
  let value: unknown;
  try {
    value = readYaml(content, { maxAliases: 0, textsBelow: 'variables' });
  } catch (error) {
    if (error instanceof SyntaxError) return fail(firstLine(error.message));
    throw error;
  }
  if (value === null) return { ok: true, environment: {} };
  if (typeof value !== 'object' || Array.isArray(value)) return fail('must be a map of settings');
  const parsed = schema.safeParse(value);
  return parsed.success ? { ok: true, environment: parsed.data } : fail(problemOf(parsed.error));
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const keys = issue.keys
      .map((key) => `"${key.slice(0, 50)}"`)
      .slice(0, 5)
      .join(', ');
    return `has the unknown ${issue.keys.length === 1 ? 'key' : 'keys'} ${keys}${path === '' ? '' : ` in ${path}`}`;
  }
  return `${path === '' ? '' : `is wrong at ${path.slice(0, 100)}: `}${firstLine(issue?.message ?? 'is not valid')}`;
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').slice(0, 200).replace(/(?<![.:])[.:]+$/, '');
}

function fail(problem: string): ParsedEnvironment {
  return { ok: false, problem };
}
