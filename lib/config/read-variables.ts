import { z } from 'zod';

/** The environment cannot be used. The message names every variable that is missing or wrong. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export const httpAddress = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:\/\//i.test(text), 'must be an http:// or https:// address');

/** Parses the environment. An empty variable counts as absent. Throws ConfigError that names every wrong variable. */
export function readVariables<Schema extends z.ZodType>(schema: Schema, env: NodeJS.ProcessEnv): z.output<Schema> {
  const present = Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== '');
  const parsed = schema.safeParse(Object.fromEntries(present));
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map(({ path, message }) => `${String(path.at(-1))} ${message}.`).join(' '));
}
