import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { CommandError } from '../../../cli/command-error.ts';
import { compileGlob } from '../../../lib/inputs/glob.ts';

/** `edit` tasks state the exact change, in sentences that the offline editor understands, too. */
export const taskKinds = ['edit', 'docs', 'refactor', 'fix'] as const;

const path = z.string().min(1);

/**
 * `find` must occur exactly once in `path`; with `every`, `path` is a glob, and each occurrence in its files is replaced.
 */
const editSchema = z.union([
  z.strictObject({ path, find: z.string().min(1), replace: z.string(), every: z.boolean().default(false) }),
  z.strictObject({ path, text: z.string() }),
  z.strictObject({ path, delete: z.literal(true) }),
  z.strictObject({ path, to: path }),
]);
export type Edit = z.infer<typeof editSchema>;

const checkSchema = z.strictObject({
  /** The result must have the same files as the reference solution. */
  exact: z.boolean().default(false),
  /** Globs of the paths that may be changed; any if empty. */
  only: z.array(z.string()).default([]),
  /** Most lines that may be added and deleted together. */
  lines: z.int().positive().optional(),
  /** Globs of files that are as in the task's base while the command runs, whatever the result made of them. */
  restore: z.array(z.string()).default([]),
  /** Files that the agent never sees, added before the command runs. */
  files: z.record(path, z.string()).default({}),
  /** Shell command that must exit with 0. */
  run: z.string().optional(),
  seconds: z.int().positive().default(600),
});
export type Check = z.infer<typeof checkSchema>;

const taskSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
  kind: z.enum(taskKinds),
  prompt: z.string().min(1),
  /** Made on the pinned commit before the agent starts. */
  seed: z.array(editSchema).default([]),
  /** Reference solution; without it, the seed is undone. */
  solution: z.array(editSchema).optional(),
  check: checkSchema,
});

const suiteSchema = z.strictObject({
  repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  language: z.string(),
  /** Programs that the commands need beside Node, git and a shell. */
  needs: z.array(z.string()).default([]),
  tasks: z.array(taskSchema).min(1),
});

export interface Task {
  id: string;
  kind: string;
  language: string;
  repository: string;
  commit: string;
  prompt: string;
  needs: string[];
  seed: Edit[];
  solution?: Edit[] | undefined;
  /** Null when another program judges the result. */
  check: Check | null;
}

const instanceSchema = z.object({
  instance_id: z.string().regex(/^[\w.-]{1,150}$/),
  repo: suiteSchema.shape.repository,
  base_commit: suiteSchema.shape.commit,
  problem_statement: z.string().min(1),
});

/** Reads the tasks of a folder: one YAML file per repository. Throws CommandError. */
export function readTasks(folder: string): Task[] {
  const tasks = readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .flatMap((name) => {
      const { tasks, ...shared } = parsed(suiteSchema, name, () => parseYaml(textOf(join(folder, name))));
      return tasks.map((task) => ({ ...shared, ...task }));
    });
  return withoutTwins(tasks);
}

/** Reads instances in the format of SWE-bench: JSON lines. Throws CommandError. */
export function readInstances(file: string): Task[] {
  const lines = textOf(file)
    .split('\n')
    .map((line, index) => ({ line, name: `${file}, line ${index + 1},` }))
    .filter(({ line }) => line.trim() !== '');
  if (lines.length === 0) throw new CommandError(`${file} has no instances.`);
  return withoutTwins(
    lines.map(({ line, name }) => {
      const instance = parsed(instanceSchema, name, () => JSON.parse(line));
      return {
        id: instance.instance_id,
        kind: 'instance',
        language: '-',
        repository: instance.repo,
        commit: instance.base_commit,
        prompt: instance.problem_statement,
        needs: [],
        seed: [],
        check: null,
      };
    }),
  );
}

export interface Selection {
  kind?: string;
  tasks?: string;
}

/** Returns the tasks of a kind whose ids match a glob. Throws CommandError when there are none. */
export function selectTasks(tasks: Task[], { kind, tasks: glob }: Selection): Task[] {
  const isWanted = glob === undefined ? () => true : compileGlob(glob);
  const found = tasks.filter((task) => (kind === undefined || task.kind === kind) && isWanted(task.id));
  if (found.length > 0) return found;
  throw new CommandError(`No task matches; there are ${tasks.length}, which "npm run eval -- list" shows.`);
}

export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file} cannot be read.`, { cause });
  }
}

/** Parses a value that comes from a file. Throws CommandError with the first problem. */
export function parsed<T>(schema: z.ZodType<T>, name: string, read: () => unknown): T {
  let value: unknown;
  try {
    value = read();
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(`${name} is malformed: ${String(cause).split('\n')[0]}`, { cause });
  }
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  const [issue] = error.issues;
  throw new CommandError(`${name} is not valid: ${issue?.path.join('.') || 'the whole'}: ${issue?.message}.`);
}

function withoutTwins(tasks: Task[]): Task[] {
  const ids = tasks.map(({ id }) => id);
  const twin = ids.find((id, index) => ids.indexOf(id) < index);
  if (twin !== undefined) throw new CommandError(`The task ${twin} is there twice.`);
  return tasks;
}
