import { z } from 'zod';
import { isVariableName } from '../environments/variable-name.ts';

export const maxServers = 10;
/** Largest number of tools that a project names per server. */
export const maxNamedTools = 100;

/** The name of a server; tools of it are offered as `name__tool`. */
export const serverNameSchema = z
  .string()
  .regex(
    /^[a-z](?:[a-z0-9-]{0,22}[a-z0-9])?$/,
    'must have 1 to 24 lower-case letters, digits or hyphens, and begin with a letter',
  );

/** The address of a server. Workers check what it leads to. */
export const serverUrlSchema = z
  .string()
  .max(2_048)
  .transform((text, context) => {
    const url = URL.parse(text);
    const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
    if (isPlain && /^https?:$/.test(url.protocol)) return url.href;
    context.addIssue('must be an http:// or https:// address without a user name or a fragment');
    return z.NEVER;
  });

export const toolNameSchema = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be the name of a tool');

/** Headers that the transport sets itself. */
const ownHeaders =
  /^(?:host|connection|content-.*|transfer-encoding|accept|mcp-.*|te|trailer|upgrade|expect|keep-alive)$/i;

export const headerNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be the name of a header')
  .refine((name) => !ownHeaders.test(name), 'must not be a header of the connection');

export const headerValueSchema = z
  .string()
  .trim()
  .regex(/^[\x20-\x7e]{6,4000}$/, 'must have 6 to 4000 ASCII characters');

/** Largest number of servers that run as a command: each has its own processes on the worker. */
export const maxCommands = 4;
/** Longest command of a server, in words. */
export const maxWords = 50;

/** The program of a server and its arguments. */
export const serverCommandSchema = z
  .array(z.string().min(1).max(4_000).refine(isPlainText, 'contains a NUL or an unpaired surrogate'))
  .min(1)
  .max(maxWords);

export const variableNameSchema = z
  .string()
  .refine(isVariableName, 'must be the name of an environment variable that neither the sandbox nor the shell sets');

/** The value of a secret environment variable. */
export const secretValueSchema = z
  .string()
  .min(6, 'must have at least 6 characters, because shorter values cannot be masked')
  .max(32_768)
  .refine(isPlainText, 'contains a NUL or an unpaired surrogate');

function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Which calls count as read-only: those of tools that the server annotates so, all, or none. */
export const readOnlyChoices = ['annotated', 'all', 'none'] as const;
