import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestStack } from '../support/stack/stack.ts';
import type { TestStack } from '../support/stack/stack.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { patienceMs } from '../support/patience.ts';

vi.setConfig({ testTimeout: 180_000 });

const checkout = resolve(import.meta.dirname, '../..');

/** Blocks that their own test runs, or that need another machine; the rest runs against a live stack. */
const elsewhere = [
  /^npm ci\b/, // smoke.test.ts
  /^npm start\b/, // start.test.ts
  /^npm pack\b/, // the package of the command line
  /^npm run (check|test|attacks|fuzz|bench|chaos|eval)\b/,
  /^npm run docket -- job approve\b/, // jobs/plan.test.ts, cli/…
  /^npm run docket -- site (update|evaluate) .* --query-rewriting\b/, // assistant/query-rewriting.test.ts, cli/site.test.ts
  /^npm run docket -- job create .* --image\b/, // cli/job-images.test.ts
  /^cp deploy\//, // npm run compose
  /docker compose\b/,
  /^temporal\(\)/,
  /^(ANTHROPIC_API_KEY|GITHUB_TOKEN)=/, // settings of .env
  /^echo "DOCKET_ENCRYPTION_KEYS/,
];

interface Snippet {
  file: string;
  line: number;
  text: string;
}

async function snippetsOf(file: string): Promise<Snippet[]> {
  const page = await readFile(join(checkout, file), 'utf8');
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map((match) => ({ file, line: page.slice(0, match.index).split('\n').length + 1, text: match[1]! }))
    .filter(({ text }) => {
      const first = text.split('\n').find((line) => line !== '' && !line.startsWith('#')) ?? '# nothing';
      return !first.startsWith('#') && !elsewhere.some((pattern) => pattern.test(first));
    });
}

const pages = (await readdir(join(checkout, 'docs'), { recursive: true })).filter((name) => name.endsWith('.md'));
const files = ['README.md', ...pages.map((page) => `docs/${page}`).sort()];
const snippets = (await Promise.all(files.map(snippetsOf))).flat();

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
  const [, sources = ''] =
    /```json\n(\[.*?\])\n```/s.exec(await readFile(join(checkout, 'docs/assistant.md'), 'utf8')) ?? [];
  await writeFile(join(folder, 'sources.json'), sources);
  await run(`ssh-keygen -q -t ed25519 -N '' -f deploy_key && echo "github.com $(cat deploy_key.pub)" > hosts`);
  stack = await startTestStack();
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

/** Placeholders for ids in the documentation, and how a test gets each id. */
const ids: Record<string, () => Promise<string>> = {
  JOB: async () => {
    const path = `/v2/agent/${stack.localJson.projectId}/job`;
    const { id } = await api(path, { json: { prompt: `Create made-${++made}.md with "text"` } });
    await vi.waitFor(
      async () => expect((await api(`${path}/${id}`, { method: 'GET' })).status).toMatch(/completed|failed/),
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
async function filledIn({ text }: Snippet): Promise<string> {
  let script = text;
  for (const [name, make] of Object.entries(ids)) {
    const pattern = new RegExp(`(?<![$\\w{])${name}(?:_ID)?(?!\\w|=|\\))`, 'g');
    if (name === 'ORG' && pattern.test(script)) script = script.replaceAll(pattern, await make());
    const lines: string[] = [];
    // a command may end the job it names, so each line gets its own
    for (const line of script.split('\n'))
      lines.push(line.match(pattern) ? line.replaceAll(pattern, await make()) : line);
    script = lines.join('\n');
  }
  return script
    .replaceAll(/(site create .*--repository )\S+/g, `$1${sampleRepository()}`)
    .replaceAll(
      /\b(deploy_key|(?:token|prompt|headers|env|captcha)\.txt|rules\.md|SKILL\.md|(?:questions|sources)\.json)\b|(?<=--ssh-known-hosts )hosts\b/g,
      (name) => join(folder, name),
    )
    .replaceAll(/\bnpm run docket\b/g, `${npm} run --silent docket`);
}

const preamble = async () => {
  const [block = ''] = (await snippetsOf('docs/quickstart.md')).map(({ text }) => text);
  const reader = block.split('\n').slice(0, 2).join('\n');
  return `${reader}\nDOMAIN=$(read_local domain) ASSISTANT=$(read_local assistantKey)\n`;
};

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
    const { code, output } = await run(`${await preamble()}${script}`, {
      ...stack.env,
      DOCKET_PROJECT: stack.localJson.projectId,
      TOKEN: 'a-token-of-a-service',
    });
    expect(code, `${script}\n${output}`).toBe(0);
    expect(output).not.toMatch(/^\{"error":/m);
  });
});
