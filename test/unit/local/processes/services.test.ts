import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { apiOptions } from '../../../../local/processes/services.ts';

const checkout = resolve(import.meta.dirname, '../../../..');

it('starts the API with the same options of Node everywhere', () => {
  const starts = (file: string) => readFileSync(resolve(checkout, file), 'utf8').match(/^.*\bapi\/main\.ts.*$/gm) ?? [];
  for (const file of ['Dockerfile', 'docker-compose.yml', 'package.json', 'docs/operations/production.md']) {
    expect(starts(file), file).not.toEqual([]);
    for (const line of starts(file)) for (const option of apiOptions) expect(line).toContain(option);
  }
});
