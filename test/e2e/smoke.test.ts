import { expect, it } from 'vitest';
import { livingOf, runDemo } from '../support/stack/demo.ts';

const changedFiles = [
  'README.md',
  'docs/guides/first-lamp.md',
  'docs/guides/reset.md',
  'docs/guides/scenes.md',
  'docs/guides/troubleshooting.md',
  'docs/index.md',
  'docs/reference/api.md',
];

it('npm run demo turns a prompt into a pull request, answers a question, and leaves nothing behind', async () => {
  await using demo = await runDemo();
  await demo.said('A prompt becomes a pull request');
  const stack = await demo.readLocalJson();
  expect((await livingOf(stack)).sort()).toEqual(['api', 'postgres', 'temporal', 'worker']);
  const code = await demo.ended;
  const output = demo.output();
  expect(code, output).toBe(0);

  for (const step of ['PostgreSQL', 'Temporal', 'API', 'Worker'])
    expect(output).toMatch(new RegExp(`${step}: \\d+\\.\\d s`));
  expect(output).toMatch(/job_\w+: (?:queued|preparing|running|publishing), \d+ steps/);
  expect(output).toContain('"status": "completed"');
  expect(output).toMatch(new RegExp(`Pull request: ${stack.baseUrl}/pulls/pr_\\w+`));
  expect([...output.matchAll(/^diff --git a\/(\S+) b\/\S+$/gm)].map(([, file]) => file)).toEqual(changedFiles);
  const lines = output.split('\n');
  const removed = lines.filter((line) => /^-(?!--)/.test(line) && !line.startsWith('- Done'));
  const added = lines.filter((line) => /^\+(?!\+\+)/.test(line));
  expect(added.map((line) => line.slice(1))).toEqual(
    expect.arrayContaining(removed.map((line) => line.slice(1).replaceAll('colour', 'color'))),
  );
  expect(added.filter((line) => line.includes('colour'))).toEqual([]);
  expect(output).toMatch(/Set `retryLimit` in\s`lamp\.json`/);
  expect(output).toContain('Sources:\n  - Troubleshooting (/guides/troubleshooting#a-lamp-does-not-answer)\n');
  expect(output).not.toContain(stack.adminKey);
  expect(await livingOf(stack)).toEqual([]);
});
