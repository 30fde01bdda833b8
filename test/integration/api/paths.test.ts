import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readDescription } from '../../suites/fuzz/description.ts';
import { buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from './serve.ts';
import { fc, propertyRuns } from '../../support/properties.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));

/** Other spellings of a path that a person or proxy may treat as the same one. `at` chooses the place. */
const spellings: Record<string, (path: string, at: number) => string> = {
  'another case': (path, at) => changed(path, at, /[a-z]/g, (letter) => letter.toUpperCase()),
  'an encoded letter': (path, at) =>
    changed(path, at, /[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`),
  'a doubled slash': (path, at) => changed(path, at, /\//g, () => '//'),
  'a slash at the end': (path) => `${path}/`,
  'parameters of a segment': (path) => `${path};a=b`,
};

/** Changes the `at`-th match outside the placeholders of the template. */
function changed(path: string, at: number, pattern: RegExp, change: (text: string) => string): string {
  const places = [...path.matchAll(pattern)].map(({ index }) => index);
  const place = places[at % places.length] ?? 0;
  return path.slice(0, place) + change(path.charAt(place)) + path.slice(place + 1);
}

describe('a path', () => {
  it('names no secret with a NUL character in it', async () => {
    const { id, organizationId } = await buildProject(database.pool);
    const { key } = await buildKey(database.pool, { organizationId });
    const answer = await api.ask(`/v1/projects/${id}/secrets/%00`, { method: 'DELETE', key });
    expect(answer.status).toBe(404);
  });

  it('does not match any route when it is spelled differently', async () => {
    const { operations } = await readDescription(api.url);
    expect(operations.length).toBeGreaterThan(50);
    const routes = operations
      .map(({ method, template }) => ({ method, path: template.replaceAll(/\{\w+\}/g, '0') }))
      // a final placeholder accepts any text
      .filter(({ path }) => !/\/0(?:\.md)?$/.test(path));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...routes),
        fc.constantFrom(...Object.keys(spellings)),
        fc.nat(100),
        async ({ method, path }, kind, at) => {
          const spelled = spellings[kind]!(path, at);
          const answer = await askRaw(`${method} ${spelled} HTTP/1.1\r\nHost: x\r\n`);
          expect(answer.head, spelled).toMatch(/^HTTP\/1\.1 404 /);
          expect(answer.body, spelled).toMatch(/Not found\./);
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  it.each(['/METRICS', '/metrics/', '//metrics', '/%6Detrics', '/metrics;a', '/./metrics', '/x/../metrics'])(
    'shows no metrics at %s',
    async (path) => {
      expect((await askRaw(`GET ${path} HTTP/1.1\r\nHost: x\r\n`)).head).toMatch(/^HTTP\/1\.1 404 /);
    },
  );

  it.each(['/metrics#a', '/metrics?a#b', 'http://x/metrics', 'http://other/metrics', '*'])(
    'is refused as %s, which a proxy may read as another path',
    async (target) => {
      const { head, body } = await askRaw(`GET ${target} HTTP/1.1\r\nHost: x\r\n`);
      expect([head.split('\r\n')[0], body]).toEqual([
        'HTTP/1.1 400 Bad Request',
        '{"error":"The request target must be a path without a fragment."}',
      ]);
    },
  );

  it('is refused with two Host headers, since a proxy may have checked the other one', async () => {
    for (const path of ['/healthz', '/v2/agent/prj_1/job/job_1']) {
      const { head, body } = await askRaw(`GET ${path} HTTP/1.1\r\nHost: a\r\nhost: b\r\n`);
      expect([head.split('\r\n')[0], body]).toEqual([
        'HTTP/1.1 400 Bad Request',
        '{"error":"The Host header appears more than once."}',
      ]);
    }
  });
});

function askRaw(request: string): Promise<{ head: string; body: string }> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${request}Connection: close\r\n\r\n`));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject).on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n');
      resolve({ head, body });
    });
  });
}
