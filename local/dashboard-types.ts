import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createOpenApi } from '../api/openapi/openapi.ts';
import { routes } from '../api/openapi/routes.ts';

/** The types of the API's answers, as the dashboard uses them. */
export const typesFile = resolve(import.meta.dirname, '../dashboard/http/schema.d.ts');

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** The description from which the types are made. */
export function describedApi(): string {
  return JSON.stringify(createOpenApi({ baseUrl: 'http://127.0.0.1:8080', routes }), null, 2);
}

/** The first line of the types: of which description they are, and that nobody has changed them since. */
export function stampOf(description: string, types: string): string {
  return `// made by npm run dashboard:types of the description ${digestOf(description)}, itself ${digestOf(types)}\n`;
}

function makeTypes(): number {
  const description = describedApi();
  const directory = mkdtempSync(join(tmpdir(), 'docket-types-'));
  try {
    const [source, made] = [join(directory, 'openapi.json'), join(directory, 'schema.d.ts')];
    writeFileSync(source, description);
    // it needs an older TypeScript than the one of the project, so it is no dependency
    const packages = ['--package=openapi-typescript@7.13.0', '--package=typescript@5.9'];
    const command = ['exec', '--yes', ...packages, '--', 'openapi-typescript', source, '-o', made];
    const { status } = spawnSync('npm', command, { stdio: 'inherit', cwd: directory });
    if (status !== 0) return status ?? 1;
    const types = readFileSync(made, 'utf8');
    writeFileSync(typesFile, stampOf(description, types) + types);
    return 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) process.exitCode = makeTypes();
