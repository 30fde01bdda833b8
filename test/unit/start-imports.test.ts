import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Returns the npm packages that a process loads before it reads its settings. */
function packagesOf(entry: string): Set<string> {
  const program = `
    import { registerHooks } from 'node:module';
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        const [name] = [...url.matchAll(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/g)].map((match) => match[1]).slice(-1);
        if (name !== undefined) packages.add(name);
        return next(url, context);
      },
    });
    await import(${JSON.stringify(pathToFileURL(resolve(entry)).href)});
    process.stdout.write(JSON.stringify([...packages]));
    process.exit(0);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return new Set(JSON.parse(stdout) as string[]);
}

const providers = ['@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/openai-compatible'];
const tracing = ['@opentelemetry/core', '@opentelemetry/sdk-trace', '@opentelemetry/exporter-trace-otlp-http'];
const forges = ['@gitbeaker/core', '@gitbeaker/requester-utils', '@octokit/rest', '@octokit/auth-app'];

describe('a start', { tags: ['slow'] }, () => {
  it('of a worker loads no forge, no model provider, no protocol of tools and no parser of pages', () => {
    const loaded = packagesOf('worker/worker-process.ts');
    expect(loaded).toContain('@temporalio/worker');
    const later = [...providers, ...forges, ...tracing, '@modelcontextprotocol/sdk', 'hast-util-from-html', 'stemmer'];
    expect(later.filter((name) => loaded.has(name))).toEqual([]);
  });

  it('of a worker opens the sandbox before it loads Temporal', () => {
    const loaded = packagesOf('worker/run-main.ts');
    expect([...loaded].filter((name) => name.startsWith('@temporalio/'))).toEqual([]);
  });
});
