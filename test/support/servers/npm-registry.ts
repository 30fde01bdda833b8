import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../temporary-directory.ts';
import { listening } from './listening.ts';

/** A registry of npm packages on the loopback interface. */
export interface NpmRegistry extends AsyncDisposable {
  /** `host:port`, with a name that only the resolver of a test knows. */
  host: string;
  /** Paths that were requested. */
  asked: string[];
}

/** Starts a registry with one version of one package, whose module is a text; `program` is what its command runs. */
export async function startNpmRegistry(name: string, content: string, program?: string): Promise<NpmRegistry> {
  const bin = program === undefined ? {} : { bin: { [name]: 'program.js' } };
  const archive = await packed({ name, version: '1.0.0', main: 'index.js', ...bin }, { content, program });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === `/${name}/-/${name}-1.0.0.tgz`) return response.end(archive);
    if (request.url !== `/${name}`) return response.writeHead(404).end('{}');
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    const dist = { tarball: `http://${host}/${name}/-/${name}-1.0.0.tgz`, integrity };
    const version = { name, version: '1.0.0', dist, ...bin };
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
  });
  const at = await listening(server);
  const host = `registry.test:${at.port}`;
  return {
    host,
    asked,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}

async function packed(
  description: Record<string, unknown>,
  { content, program }: { content: string; program: string | undefined },
): Promise<Buffer> {
  const folder = temporaryDirectory();
  await mkdir(join(folder, 'package'));
  await writeFile(join(folder, 'package/package.json'), JSON.stringify(description));
  await writeFile(join(folder, 'package/index.js'), `module.exports = ${JSON.stringify(content)};\n`);
  if (program !== undefined)
    await writeFile(join(folder, 'package/program.js'), `#!/usr/bin/env node\n${program}`, { mode: 0o755 });
  await promisify(execFile)('tar', ['-czf', join(folder, 'package.tgz'), '-C', folder, 'package']);
  return await readFile(join(folder, 'package.tgz'));
}
