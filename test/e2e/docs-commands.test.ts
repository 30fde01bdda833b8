import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestStack } from '../support/stack/stack.ts';
import type { TestStack } from '../support/stack/stack.ts';
import { pngOf } from '../support/sandbox/images.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { blocksOf, checkout, pages, readDocument, type Block } from '../support/documentation.ts';
import { patienceMs } from '../support/patience.ts';

vi.setConfig({ testTimeout: 180_000 });

/**
 * Beginnings of blocks that start or build something that is already running in this test, and the test that runs them
 * instead.
 */
const elsewhere = [
  /^npm ci && npm run demo\b/, // e2e/demo.test.ts
  /^npm ci && npm test\b/, // the run that this test is a part of
  /^npm start\b/, // e2e/start.test.ts, and eval.test.ts for the evaluation
  /^npm run eval\b/, // e2e/eval.test.ts, eval-recordings.test.ts
  /^npm run attacks\b/, // each line is a suite; short runs: chaos-, fuzz- and leaks-short.test.ts, repositories.test.ts
  /^npm run bench\b/, // each line is a benchmark
  /^npm pack \.\/cli\b/, // integration/cli/package.test.ts
  /^npm pack \.\/dashboard\/react\b/, // e2e/react-package.test.ts
  /^(cp deploy\/|docker compose\b|temporal\(\))/, // npm run compose
];

const firstLineOf = (text: string) => text.split('\n').find((line) => !line.startsWith('#')) ?? '';
const blocks = ['README.md', ...pages.map((page) => `docs/${page}`).sort()]
  .flatMap(blocksOf)
  .filter(({ language }) => language === 'sh');
const snippets = blocks.filter(({ text }) => !elsewhere.some((pattern) => pattern.test(firstLineOf(text))));

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = temporaryDirectory();
  await writeFile(join(folder, 'token.txt'), 'a-token-for-the-forge\n');
  await writeFile(join(folder, 'captcha.txt'), 'the-secret-key\n');
  await writeFile(join(folder, 'prompt.txt'), 'Create from-a-file.md with "text"\n');
  await writeFile(join(folder, 'questions.json'), '[{"text": "How do I run a scene?"}]');
  await writeFile(join(folder, 'rules.md'), 'Write in American English.\n');
  await writeFile(join(folder, 'headers.txt'), 'Authorization: Bearer a-token\n');
  await writeFile(join(folder, 'env.txt'), 'TRACKER_TOKEN=a-token\n');
  await writeFile(
    join(folder, 'SKILL.md'),
    '---\nname: notes\ndescription: Use for release notes.\n---\n\nOne line.\n',
  );
  const [, sources = ''] = /```json\n(\[.*?\])\n```/s.exec(readDocument('docs/assistant/sites.md')) ?? [];
  await writeFile(join(folder, 'sources.json'), sources);
  await run(`ssh-keygen -q -t ed25519 -N '' -f deploy_key && echo "github.com $(cat deploy_key.pub)" > hosts`);
  await writeFile(join(folder, 'design.png'), pngOf({ width: 7, height: 5 }));
  // models of Anthropic can be named, and are down
  const models = { DOCKET_AGENT_MODEL: 'offline/editor', DOCKET_ASSISTANT_MODEL: 'offline/extract' };
  stack = await startTestStack({
    env: { ...models, ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
  });
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

async function run(script: string, env: NodeJS.ProcessEnv = process.env): Promise<{ code: number; output: string }> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece.toString()));
  child.stdin.end();
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

async function api(path: string, { method = 'POST', json }: { method?: string; json?: unknown } = {}): Promise<any> {
  const { baseUrl, adminKey } = stack.localJson;
  const response = await fetch(baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  return response.status === 204 ? null : response.json();
}

const github = 'https://github.com/acme/docs';
const sampleRepository = () => join(stack.localJson.folders!.repositories, 'lamp.git');
let made = 0;

/** Placeholders for ids in the documentation, and how a test gets each id for a line. */
const ids: Record<string, (line: string) => Promise<string>> = {
  JOB: async (line) => {
    const path = `/v2/agent/${stack.localJson.projectId}/job`;
    const plan = /\b(?:approve|reject)\b/.test(line) ? 'review' : 'none';
    const { id } = await api(path, { json: { prompt: `Create made-${++made}.md with "text"`, plan } });
    await vi.waitFor(
      async () => {
        const { status, details } = await api(`${path}/${id}`, { method: 'GET' });
        expect(details.phase ?? status).toMatch(/completed|failed|waiting/);
      },
      { timeout: patienceMs, interval: 100 },
    );
    return id;
  },
  PROJECT: async () => (await api('/v1/projects', { json: { repository: github } })).id,
  ORG: async () => {
    const { output } = await run(
      `npm run --silent docket -- org create --name "Docs ${++made}"`.replace('npm', npm),
      stack.env,
    );
    return /org_\w+/.exec(output)![0];
  },
  KEY_ID: async () => (await api('/v1/keys', { json: { kind: 'assistant' } })).id,
  SET: async () => {
    const json = { name: `Set ${++made}`, questions: [{ text: 'How do I run a scene?' }] };
    return (await api('/v1/sites/acme/question-sets', { json })).id;
  },
  WEBHOOK: async () =>
    (await api(`/v2/agent/${stack.localJson.projectId}/webhooks`, { json: { url: 'https://hooks.example.com/' } })).id,
};

const npm = `npm --prefix ${checkout}`;

/** A snippet with real ids and, where the worker would have to reach GitHub, the sample repository. */
async function filledIn({ text }: Block): Promise<string> {
  let script = text;
  for (const [name, make] of Object.entries(ids)) {
    const pattern = new RegExp(`(?<![$\\w{])${name}(?:_ID)?(?!\\w|=|\\))`, 'g');
    if (name === 'ORG' && pattern.test(script)) script = script.replaceAll(pattern, await make(script));
    const lines: string[] = [];
    // a command may end the job it names, so each line gets its own
    for (const line of script.split('\n'))
      lines.push(line.match(pattern) ? line.replaceAll(pattern, await make(line)) : line);
    script = lines.join('\n');
  }
  return script
    .replaceAll(
      /(site create .*--repository )\S+|(?<=clone --bare )\S+/g,
      (_, before = '') => `${before}${sampleRepository()}`,
    )
    .replaceAll(
      /\b(deploy_key|design\.png|(?:token|prompt|headers|env|captcha)\.txt|rules\.md|SKILL\.md|(?:questions|sources)\.json)\b|(?<=--ssh-known-hosts )hosts\b/g,
      (name) => join(folder, name),
    )
    .replaceAll(/\bnpm run docket\b/g, `${npm} run --silent docket`);
}

const preamble = () => {
  const reader = /^read_local\(\)[\s\S]*?^BASE=.*$/m.exec(readDocument('docs/quickstart.md'))?.[0];
  return `${reader}\nDOMAIN=$(read_local domain) ASSISTANT=$(read_local assistantKey)\n`;
};

it.each(elsewhere)('the documentation has a block that begins with %s', (pattern) => {
  expect(blocks.some(({ text }) => pattern.test(firstLineOf(text)))).toBe(true);
});

describe('the commands in the documentation', () => {
  it.each(snippets)('$file:$line', { tags: ['slow'] }, async (snippet) => {
    const isAcmeNew = snippet.text.includes('site create');
    await api('/v1/sites/acme', { method: 'DELETE' });
    if (!isAcmeNew && /\bacme\b/.test(snippet.text)) {
      await api('/v1/sites', { json: { domain: 'acme', repository: sampleRepository(), path: 'docs' } });
      await vi.waitFor(
        async () => expect((await api('/v1/sites/acme', { method: 'GET' })).index.indexedAt).not.toBeNull(),
        {
          timeout: patienceMs,
          interval: 100,
        },
      );
    }
    const script = await filledIn(snippet);
    const { code, output } = await run(`${preamble()}${script}`, {
      ...stack.env,
      DOCKET_PROJECT: stack.localJson.projectId,
      TOKEN: 'a-token-of-a-service',
    });
    expect(code, `${script}\n${output}`).toBe(0);
    expect(output).not.toContain('{"error":');
  });
});
