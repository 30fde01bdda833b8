import { z } from 'zod';
import { trimEndSlashes } from '../trim-end-slashes.ts';

/** The environment is invalid. The message names every variable that is missing or wrong. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** An HTTP address, without slashes at its end. */
export const httpAddress = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:\/\//i.test(text), 'must be an http:// or https:// address')
  .transform(trimEndSlashes);

/** Returns the schema of a whole number, written in digits. */
export function wholeNumber(minimum: number, maximum = 1e9) {
  const sentence = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, sentence)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, sentence);
}

export const portNumber = wholeNumber(0, 65_535);

/** Existing keys are hashed with the whole value, spaces included. */
const pepper = 'DOCKET_KEY_PEPPER';

/**
 * Parses the environment and trims white space around values, because files of secrets often end with a line break. An
 * empty variable counts as absent. Throws ConfigError that names every wrong variable.
 */
export function readVariables<Schema extends z.ZodType>(schema: Schema, env: NodeJS.ProcessEnv): z.output<Schema> {
  const present = Object.entries(env).flatMap(([name, value = '']) => {
    const trimmed = value.trim();
    return trimmed === '' ? [] : [[name, name === pepper ? value : trimmed] as const];
  });
  const parsed = schema.safeParse(Object.fromEntries(present));
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map(({ path, message }) => `${String(path.at(-1))} ${message}.`).join(' '));
}
