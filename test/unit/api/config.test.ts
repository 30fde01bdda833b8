import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readTemporalSettings } from '../../../lib/temporal/temporal-credentials.ts';
import { readConfig, secretsOf } from '../../../api/config.ts';
import { ConfigError } from '../../../lib/config/read-variables.ts';

const required = { DATABASE_URL: 'postgres://docket:pw@db:5432/docket', DOCKET_KEY_PEPPER: 'a pepper' };

function problemOf(env: Record<string, string>): string {
  try {
    readConfig(env);
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
}

describe('readConfig', () => {
  it('needs only the database and the pepper, and uses the defaults of .env.example', () => {
    expect(readConfig(required)).toMatchObject({
      logLevel: 'info',
      tracing: null,
      http: { host: '127.0.0.1', port: 8080, baseUrl: 'http://127.0.0.1:8080', trustedProxies: 0 },
      database: { url: 'postgres://docket:pw@db:5432/docket' },
      temporal: readTemporalSettings({}),
      keyPepper: 'a pepper',
      models: { settings: {}, agent: 'offline/editor', assistant: 'offline/extract' },
      repositories: { allowedHosts: ['github.com'], localRoot: null },
      rateLimits: { jobsPerHour: 100, assistantPerHour: 10_000, assistantPerIpPerDay: 10_000 },
      jobLimits: { maxSteps: 50, maxTokens: 2_000_000, maxDurationMs: 3_600_000 },
      drainMs: 0,
    });
  });

  it('accepts an account that has an id only, as a container may', () => {
    const unnamed = vi.spyOn(os, 'userInfo').mockImplementation(() => {
      throw new Error('uv_os_get_passwd returned ENOENT');
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      unnamed.mockRestore();
      syncBuiltinESMExports();
    });
    expect(readConfig(required).cacheDirectory).toMatch(/\/docket-cache-\d+$/);
  });

  it('names every invalid variable at once, without repeating a value', () => {
    const problem = problemOf({
      DATABASE_URL: 'mysql://hunter2@x/y',
      PORT: '99999',
      DOCKET_MAX_STEPS: '1.5',
      LOG_LEVEL: 'loud',
    });
    for (const name of ['DATABASE_URL', 'DOCKET_KEY_PEPPER', 'PORT', 'DOCKET_MAX_STEPS', 'LOG_LEVEL'])
      expect(problem).toContain(name);
    expect(problem).not.toContain('hunter2');
  });

  it('treats an empty variable as unset', () => {
    const config = readConfig({ ...required, PORT: '', ANTHROPIC_API_KEY: ' ', DOCKET_LOCAL_REPOSITORIES: '' });
    expect(config.http.port).toBe(8080);
    expect(config.models.settings.anthropicApiKey).toBeUndefined();
    expect(config.repositories.localRoot).toBeNull();
  });

  it('reads values without the white space around them, except for the pepper of existing keys', () => {
    const config = readConfig({
      ...required,
      DOCKET_KEY_PEPPER: 'a pepper\n',
      ANTHROPIC_API_KEY: 'sk-1\r\n',
      HOST: ' ::1 ',
    });
    expect(config.keyPepper).toBe('a pepper\n');
    expect(config.models.settings.anthropicApiKey).toBe('sk-1');
    expect(config.http.baseUrl).toBe('http://[::1]:8080');
  });

  it('redacts a password of the database as the driver reads it', () => {
    const secretsWith = (password: string) =>
      secretsOf(readConfig({ ...required, DATABASE_URL: `postgres://docket:${password}@db/docket` }));
    expect(secretsWith('p%40ss')).toContain('p@ss');
    expect(secretsWith('50%off')).toContain('50%off');
  });

  it('reads proxies like other programs, and redacts their passwords', () => {
    const read = (env: NodeJS.ProcessEnv) => readConfig({ ...required, ...env });
    const config = read({
      HTTPS_PROXY: 'proxy.example.com:3128',
      https_proxy: 'http://docket:p%40ss@[::1]:3128',
      HTTP_PROXY: 'proxy.example.com:3128',
      NO_PROXY: 'ollama',
    });
    expect(config.proxies).toEqual({
      http: 'http://proxy.example.com:3128',
      https: 'http://docket:p%40ss@[::1]:3128',
      exceptions: 'ollama',
    });
    expect(secretsOf(config)).toContain('p@ss');
    expect(() => read({ HTTPS_PROXY: 'socks5://proxy.example.com' })).toThrow(
      'HTTPS_PROXY must be the address of an HTTP proxy, such as http://proxy.example.com:3128.',
    );
  });

  it('reads lists, paths and addresses', () => {
    const config = readConfig({
      ...required,
      DOCKET_ALLOWED_HOSTS: 'github.com, Git.Example.com ,',
      DOCKET_LOCAL_REPOSITORIES: 'repositories',
      DOCKET_BASE_URL: 'https://docket.example.com/',
      HOST: '0.0.0.0',
      OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
    });
    expect(config.repositories).toEqual({
      allowedHosts: ['github.com', 'git.example.com'],
      localRoot: `${process.cwd()}/repositories`,
    });
    expect(config.http.baseUrl).toBe('https://docket.example.com');
    expect(config.models.settings.compatible).toEqual({
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: undefined,
      sendsCacheKey: false,
      marksPrefixes: false,
    });
  });

  it.each([['-1'], ['abc'], ['1e3'], [' 80x']])('refuses PORT=%s', (port) => {
    expect(problemOf({ ...required, PORT: port })).toContain('PORT must be a whole number');
  });
});
