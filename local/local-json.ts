import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf, StartError } from './start-error.ts';
import { codeOf } from '../lib/error-code.ts';

const pidSchema = z.number().int().positive().nullable();

export const localJsonSchema = z.object({
  baseUrl: z.url(),
  dashboardUrl: z.url(),
  projectId: z.string(),
  domain: z.string(),
  adminKey: z.string(),
  assistantKey: z.string(),
  temporalAddress: z.string(),
  /** Null when this stack does not run Temporal, or runs it without a web interface. */
  temporalUiUrl: z.url().nullable(),
  databaseUrl: z.string(),
  /** Folders of repositories and of site directories. Paths in the database begin with them. */
  folders: z.object({ repositories: z.string(), directories: z.string() }).optional(),
  /** Null for a process that this stack does not run or that is currently down. */
  pids: z.object({ api: pidSchema, worker: pidSchema, postgres: pidSchema, temporal: pidSchema }),
});

/** Description of a running stack, stored in `local.json` of its home. */
export type LocalJson = z.infer<typeof localJsonSchema>;

export type ChildName = keyof LocalJson['pids'];

/** Returns the home that the environment names: `DOCKET_HOME`, or `.docket` in the working directory. */
export function homeOf(env: NodeJS.ProcessEnv): string {
  return resolve(env['DOCKET_HOME'] || '.docket');
}

/**
 * Returns null when the home has no `local.json`. Throws StartError, and leaves the file unchanged, when it is
 * malformed.
 */
export async function readLocalJson(home: string): Promise<LocalJson | null> {
  const file = join(home, 'local.json');
  try {
    return localJsonSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null;
    throw new StartError(
      `${file} cannot be read (${reasonOf(cause)}). Correct it, or delete it to get new keys at the next start.`,
      { cause },
    );
  }
}

/** Replaces the file atomically. Only its owner may read it, because it holds keys. */
export async function writeLocalJson(home: string, content: LocalJson): Promise<void> {
  const file = join(home, 'local.json');
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const names = error.issues.map(({ path }) => (path.length === 0 ? 'the whole' : path.join('.')));
    return `wrong: ${names.join(', ')}`;
  }
  if (error instanceof SyntaxError) return 'it is not JSON';
  return codeOf(error) ?? messageOf(error);
}
