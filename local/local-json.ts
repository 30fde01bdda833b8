import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { codeOf, messageOf, StartError } from './start-error.ts';

const pidSchema = z.number().int().positive().nullable();

export const localJsonSchema = z.object({
  baseUrl: z.url(),
  dashboardUrl: z.url(),
  projectId: z.string(),
  domain: z.string(),
  adminKey: z.string(),
  assistantKey: z.string(),
  temporalAddress: z.string(),
  /** Null when Temporal is not ours, or has no web interface. */
  temporalUiUrl: z.url().nullable(),
  databaseUrl: z.string(),
  /** Where repositories and directories of sites lie; paths in the database begin with them. */
  folders: z.object({ repositories: z.string(), directories: z.string() }).optional(),
  /** Null: not ours, or not running at the moment. */
  pids: z.object({ api: pidSchema, worker: pidSchema, postgres: pidSchema, temporal: pidSchema }),
});

/** What a running stack tells of itself in `local.json` of its home. */
export type LocalJson = z.infer<typeof localJsonSchema>;

export type ChildName = keyof LocalJson['pids'];

/** The home that the environment names: `DOCKET_HOME`, or `.docket` below the working directory. */
export function homeOf(env: NodeJS.ProcessEnv): string {
  return resolve(env['DOCKET_HOME'] || '.docket');
}

/** Null when the home has none. Throws StartError, and leaves the file alone, when it cannot be understood. */
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

/** Replaces the file in one step. Only its owner may read it: it holds keys. */
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
  if (error instanceof SyntaxError) return 'it is no JSON';
  return codeOf(error) ?? messageOf(error);
}
