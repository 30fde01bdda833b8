import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { reply } from '../../support/forges/json-server.ts';
import { answered, startTracker } from './issue-scene.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const slow = { tags: ['slow'], timeout: 120_000 };

it('waits when it is asked to, and continues a reading that was stopped', slow, async () => {
  let busy = 1;
  await using tracker = await startTracker(database, { 1: answered('badger', { changedAt: 2 }), 2: answered('otter') });
  tracker.server.interrupt = (request, response) => {
    if (/\/1\/comments/.test(request.url ?? '') && busy-- > 0)
      return (reply(response, 429, {}, { 'retry-after': '1' }), true);
    if (!/\/2\/comments/.test(request.url ?? '')) return false;
    reply(
      response,
      403,
      { message: 'API rate limit exceeded' },
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Date.now() / 1_000 + 1_800) },
    );
    return true;
  };
  expect(await tracker.index()).toMatchObject({ pages: 1 });
  expect((await tracker.report())?.problem).toMatch(/^GitHub rate-limits this credential/);
  tracker.server.interrupt = null;
  tracker.server.asked();
  expect(await tracker.index()).toMatchObject({ pages: 2 });
  expect(tracker.server.asked().filter((path) => /comments/.test(path))).toHaveLength(1);
  expect((await tracker.report())?.problem).toBeNull();
});

it('stays as it was while the forge fails, and says why', slow, async () => {
  await using tracker = await startTracker(database, { 1: answered('badger') });
  tracker.server.interrupt = (_request, response) => (
    reply(response, 302, {}, { location: 'http://127.0.0.1:1/' }),
    true
  );
  expect(await tracker.failure()).toMatchObject({
    type: 'site_unreadable',
    message: expect.stringMatching(/has moved/),
  });
  tracker.server.interrupt = null;
  await tracker.index();
  for (const status of [302, 500, 422]) {
    tracker.server.interrupt = (_request, response) => (
      reply(response, status, {}, { location: 'http://127.0.0.1:1/' }),
      true
    );
    expect(await tracker.index()).toMatchObject({ version: 1, pages: 1 });
    expect((await tracker.report())?.problem).toMatch(/GitHub/);
  }
  tracker.server.interrupt = (_request, response) => (reply(response, 200, { html: '<html>' }), true);
  await tracker.index();
  expect((await tracker.report())?.problem).toBe("GitHub's response did not come from its API.");
  expect(await tracker.find('badger')).toEqual(['About the badger']);
});

it('does not reach private addresses unless the operator names the host', slow, async () => {
  await using tracker = await startTracker(database, { 1: answered('badger') }, { isPublicOnly: true });
  expect(await tracker.failure()).toMatchObject({ message: expect.stringMatching(/resolves to a private network/) });
  expect(tracker.server.asked()).toEqual([]);
});

it('makes what strangers write harmless', slow, async () => {
  const secret = 'a-secret-of-the-worker-0123456789';
  const body = [
    `<script>alert(1)</script><img src=x onerror=alert(1)>`,
    `<details><summary>Log</summary><b>bold</b></details>`,
    `# Heading\n\n![pixel](https://tracker.test/p.png) [run](javascript:alert(1)) [site](https://site.test/a) [by name][1]`,
    `[1]: https://named.test/\n\nInline <b>tag</b> and snake_case_name.`,
    `\`\`\`html\n<script>kept in code</script>\n\`\`\``,
    `${secret} ghp_${'a1'.repeat(18)}`,
  ].join('\n\n');
  await using tracker = await startTracker(
    database,
    { 1: answered('badger', { body, title: `About ${secret}` }), 2: answered('otter', { body: null, author: null }) },
    { secrets: [secret] },
  );
  expect(await tracker.index()).toMatchObject({ pages: 2 });
  const text = (await tracker.read('1')) ?? '';
  expect(text).not.toMatch(/alert|onerror|<b>|tracker\.test|javascript:|ghp_a1/);
  expect(text).not.toContain(secret);
  expect(text).toMatch(/Log[\s\S]*bold/);
  for (const kept of [
    '### Heading',
    'pixel',
    '[site](https://site.test/a)',
    '[by name](https://named.test/)',
    'Inline tag and snake_case_name.',
    '<script>kept in code</script>',
  ])
    expect(text).toContain(kept);
  expect(await tracker.find('badger')).toEqual(['About [redacted]']);
});

it('reads on beside issues that are too long or nested too deeply', slow, async () => {
  const huge = 'x'.repeat(9_000_000);
  await using tracker = await startTracker(database, {
    1: answered('badger', { changedAt: 4 }),
    2: answered('otter', { body: huge, changedAt: 3 }),
    3: answered('lynx', { comments: [{ body: huge }], changedAt: 2 }),
    4: answered('walrus', { body: '>'.repeat(9_000), changedAt: 2 }),
    5: answered('crane', {
      comments: Array.from({ length: 80 }, (_, at) => ({ body: `${at}. ${'word '.repeat(400)}` })),
    }),
  });
  await tracker.index();
  expect(await tracker.find('badger')).toEqual(['About the badger']);
  expect(await tracker.find('crane')).toEqual(['About the crane']);
  expect(await tracker.find('otter')).toEqual([]);
  expect((await tracker.report())?.skipped.join(' ')).toMatch(/issues\/3 is too long\./);
  expect((await tracker.read('5'))?.length).toBeLessThan(42_000);
});

it('ends at its limit of threads', slow, async () => {
  await using tracker = await startTracker(
    database,
    Object.fromEntries(Array.from({ length: 8 }, (_, at) => [at + 1, answered(`bird${at}`, { changedAt: at })])),
    { limits: { threads: 5 }, hasToken: false },
  );
  expect(await tracker.index()).toMatchObject({ pages: 5 });
  expect(await tracker.report()).toMatchObject({
    problem: null,
    skipped: ['Only the first 5 threads of the list are indexed.'],
  });
  expect(await tracker.find('bird7')).toContain('About the bird7');
  expect(await tracker.find('bird0')).not.toContain('About the bird0');
});
