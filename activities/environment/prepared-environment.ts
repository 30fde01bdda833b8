import { z } from 'zod';
import type { CommandEnvironment } from '../sandbox/command-environment.ts';

const limits = z.object({
  memoryBytes: z.number(),
  processes: z.number(),
  diskBytes: z.number(),
  totalBytes: z.number(),
  cpus: z.number().optional(),
});

const schema = z.object({
  /** Image that commands run in; null for the worker's own choice. */
  image: z.string().nullable().default(null),
  /** System packages that the image is extended with. */
  packages: z.array(z.string()).default([]),
  /** Key of what setup installed; null without a setup. */
  layer: z.string().nullable(),
  variables: z.record(z.string(), z.string()),
  path: z.array(z.string()),
  limits: limits.nullable(),
  /** Limits of the tool `run`; null for the worker's own settings. */
  run: z.object({ maxSeconds: z.number(), hosts: z.array(z.string()) }).nullable(),
  /** Script that runs before each command; null without one. */
  start: z.object({ script: z.string(), isOwn: z.boolean() }).nullable().default(null),
  /** Lines that the shell of each command runs first; null without any. */
  profile: z.string().nullable().default(null),
  /** Check command of the description; the project's own takes precedence. */
  check: z.string().nullable(),
});

/** Where the commands of a turn run. Stored with the turn, so that all of its steps run in the same environment. */
export type PreparedEnvironment = z.infer<typeof schema>;

/** The environment of a turn whose project and repository describe none. */
export const plainEnvironment: PreparedEnvironment = {
  image: null,
  packages: [],
  layer: null,
  variables: {},
  path: [],
  limits: null,
  run: null,
  start: null,
  profile: null,
  check: null,
};

/** Name of the effect that stores the environment of a turn. */
export const environmentEffect = 'environment';

/** Returns the stored environment of a turn; null before it is stored. */
export function storedEnvironment(result: unknown): PreparedEnvironment | null {
  return schema.safeParse(result).data ?? null;
}

/** Returns what surrounds a command of the agent. It has none of the secrets of the setup. */
export function agentEnvironment(
  { variables, path, limits, run }: PreparedEnvironment,
  home: string,
): Partial<CommandEnvironment> {
  return {
    home,
    variables,
    path,
    ...(limits === null ? {} : { limits }),
    ...(run === null ? {} : { hosts: run.hosts }),
  };
}
