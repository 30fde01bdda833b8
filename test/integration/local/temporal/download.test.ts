import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { create } from 'tar';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { downloadJson } from '../../../../local/temporal/download.ts';
import { fetchGoToolchain, proxiesOf } from '../../../../local/temporal/go-toolchain.ts';
import { temporalRelease } from '../../../../local/temporal/pinned-downloads.ts';
import { downloadRelease } from '../../../../local/temporal/temporal-program.ts';
import { createOutput } from '../../../../local/temporal/terminal.ts';
import { createTestAuthority, hasOpenssl } from '../../../support/servers/test-authority.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

let folder = '';

beforeEach(async () => {
  folder = temporaryDirectory();
});

/** Starts an HTTP server and returns its address. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A release host that sends the archive through `send`. */
async function releaseHost(send?: (response: ServerResponse, archive: Buffer) => void) {
  await mkdir(join(folder, 'made'));
  await writeFile(join(folder, 'made/temporal'), '#!/bin/sh\necho temporal\n', { mode: 0o755 });
  await writeFile(join(folder, 'made/LICENSE'), 'MIT');
  await create({ gzip: true, file: join(folder, 'made.tar.gz'), cwd: join(folder, 'made') }, ['LICENSE', 'temporal']);
  const archive = await readFile(join(folder, 'made.tar.gz'));
  const asked: string[] = [];
  const host = await serve((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.startsWith('/cli/')) {
      response.end(JSON.stringify({ archiveUrl: `${host.url}/archive.tar.gz`, fileToExtract: 'temporal' }));
    } else if (send === undefined) {
      response.setHeader('content-length', archive.length).end(archive);
    } else send(response, archive);
  });
  return { ...host, asked, hash: createHash('sha256').update(archive).digest('hex') };
}

async function download(host: string, hash: string, env: NodeJS.ProcessEnv = {}, silenceMs = 20_000) {
  const work = await mkdtemp(join(folder, 'work-'));
  await downloadRelease(work, { host, hash, env, log: () => {}, silenceMs });
  return readdir(work);
}

describe('the download of the official release', () => {
  it('requests what the SDK does, and keeps the one program of the archive', async () => {
    const host = await releaseHost();
    expect(await download(host.url, host.hash)).toEqual(['temporal']);
    expect(host.asked).toEqual([
      expect.stringMatching(
        new RegExp(`^/cli/v${temporalRelease.version}\\?arch=(amd|arm)64&platform=(linux|darwin)&format=tar.gz$`),
      ),
      '/archive.tar.gz',
    ]);
  });

  it('refuses an archive other than the published one', async () => {
    const host = await releaseHost();
    await expect(download(host.url, 'f'.repeat(64))).rejects.toThrow(/its checksum is not the published one/);
  });

  it('detects a truncated archive, a stall, and a host that is silent, fails or does not exist', async () => {
    let send: (response: ServerResponse, archive: Buffer) => void = () => {};
    const host = await releaseHost((response, archive) => send(response, archive));
    send = (response, archive) => {
      response.setHeader('content-length', archive.length).write(archive.subarray(0, 100), () => response.destroy());
    };
    await expect(download(host.url, host.hash)).rejects.toThrow(/cannot be reached, or the connection failed/);
    send = (response, archive) =>
      void response.setHeader('content-length', archive.length).write(archive.subarray(0, 9));
    await expect(download(host.url, host.hash, {}, 700)).rejects.toThrow(
      /cannot be reached, or the connection failed .*TIMEOUT/,
    );
    send = () => {};
    await expect(download(host.url, host.hash, {}, 700)).rejects.toThrow(
      /cannot be reached, or the connection failed .*TIMEOUT/,
    );
    send = (response) => void response.writeHead(503).end();
    await expect(download(host.url, host.hash)).rejects.toThrow(/127\.0\.0\.1:\d+ answers 503/);
    host.server.closeAllConnections();
    host.server.close();
    await expect(download(host.url, host.hash)).rejects.toThrow(
      /cannot be reached, or the connection failed \(ECONNREFUSED\)/,
    );
  });

  it('does not read an endless release description', async () => {
    const block = Buffer.alloc(1 << 20, ' ');
    let sent = 0;
    const endless = await serve((_request, response) => {
      const more = () => {
        while (sent < 64 << 20 && response.write(block)) sent += block.length;
        if (sent >= 64 << 20) response.end('{}');
      };
      response.on('drain', more);
      more();
    });
    await expect(download(endless.url, 'f'.repeat(64))).rejects.toThrow(/it is larger than/);
    expect(sent).toBeLessThan(64 << 20);
  });

  it('uses the proxy of the environment, except for excluded hosts', async () => {
    const host = await releaseHost();
    const seen: string[] = [];
    const proxy = await serve((request_, response) => {
      seen.push(request_.url ?? '');
      request(request_.url ?? '', (answer) => answer.pipe(response)).end();
    });
    proxy.server.on('connect', (request_, client) => {
      seen.push(request_.url ?? '');
      const upstream = connect(Number(new URL(host.url).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
    });
    await download(host.url, host.hash, { HTTP_PROXY: proxy.url });
    expect(seen.length).toBeGreaterThan(0);
    seen.length = 0;
    await download(host.url, host.hash, { http_proxy: proxy.url, no_proxy: '127.0.0.1' });
    expect(seen).toEqual([]);
  });

  it('names the response of a proxy that requires credentials, which its URL may hold; http is its usual scheme', async () => {
    const proxy = await serve(({ headers }, response) => {
      const isKnown = headers['proxy-authorization'] === `Basic ${Buffer.from('us@er:p#w').toString('base64')}`;
      response.writeHead(isKnown ? 200 : 407).end('{}');
    });
    proxy.server.on('connect', (_request, client) => void client.end('HTTP/1.1 407 Who are you\r\n\r\n'));
    const { host } = new URL(proxy.url);
    const load = (scheme: string, env: NodeJS.ProcessEnv) =>
      downloadJson(`${scheme}://nowhere.invalid/`, { env, log: () => {} });
    await expect(load('http', { http_proxy: host })).rejects.toThrow(/nowhere\.invalid cannot be reached.*407/);
    await expect(load('https', { HTTPS_PROXY: host })).rejects.toThrow(/nowhere\.invalid cannot be reached.*407/);
    expect(await load('http', { HTTP_PROXY: `us%40er:p%23w@${host}` })).toEqual({});
  });

  it.runIf(hasOpenssl)('trusts the certificates of the operating system', async () => {
    const authority = await createTestAuthority();
    const server = createSecureServer(await authority.issue('localhost'), (_request, response) => response.end('{}'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const trusted = join(folder, 'trusted.pem');
    await writeFile(trusted, authority.certificate);
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const module = JSON.stringify(import.meta.resolve('../../../../local/temporal/download.ts'));
    const code = `const { downloadJson } = await import(${module});
      console.log(await downloadJson(${JSON.stringify(url)}, { env: {} }).then(JSON.stringify, String));`;
    const env = { SSL_CERT_FILE: trusted };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { env });
    expect(stdout).toBe('{}\n');
    await expect(downloadJson(url, { env: {}, log: () => {} })).rejects.toThrow(
      /localhost:\d+ cannot be reached, or the connection failed \(UNABLE_TO_VERIFY/,
    );
  });

  it('does not happen if downloads are off', async () => {
    const host = await releaseHost();
    await expect(download(host.url, host.hash, { DOCKET_DOWNLOADS: 'off' })).rejects.toThrow(/DOCKET_DOWNLOADS is off/);
    await expect(download(host.url, host.hash, { DOCKET_DOWNLOADS: 'no' })).rejects.toThrow(/must be on or off/);
    expect(host.asked).toEqual([]);
  });

  it('shows a progress bar on a terminal, and removes it at the end', async () => {
    let written = '';
    const terminal = { isTTY: true, columns: 80, write: (text: string) => (written += text) };
    const output = createOutput(terminal as unknown as NodeJS.WriteStream);
    const host = await releaseHost((response, archive) => {
      response.setHeader('content-length', archive.length).write(archive.subarray(0, archive.length / 2));
      void vi
        .waitUntil(() => written.includes('#'), 30_000)
        .then(() => response.end(archive.subarray(archive.length / 2)));
    });
    const work = await mkdtemp(join(folder, 'work-'));
    await downloadRelease(work, { ...output, host: host.url, hash: host.hash, env: {} });
    expect(written).toMatch(/\[#{11,12}-{12,13}\] +(49|50)% Temporal: 0\.0 MB of 0\.0 MB/);
    expect(written.endsWith('\r\u001B[2K')).toBe(true);
  });
});

describe('the download of Go', () => {
  it('tries the proxies in GOPROXY one after the other, and refuses files with another hash', async () => {
    const asked: string[] = [];
    const empty = await serve((request_, response) => {
      asked.push(request_.url ?? '');
      response.writeHead(404).end();
    });
    // an archive without a file
    const proxy = await serve((request_, response) => {
      asked.push(request_.url ?? '');
      response.end(Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex'));
    });
    const env = { GOPROXY: `${empty.url}/|${proxy.url},direct` };
    await expect(fetchGoToolchain(folder, { env, log: () => {} })).rejects.toThrow(/with a wrong checksum/);
    expect(asked).toEqual([asked[0], asked[0]]);
    expect(asked[0]).toMatch(/^\/golang\.org\/toolchain\/@v\/v0\.0\.1-go1\.\d+\.\d+\.(linux|darwin)-(amd|arm)64\.zip$/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('reads GOPROXY from the environment or Go’s settings, or uses Go’s default', async () => {
    await mkdir(join(folder, '.config/go'), { recursive: true });
    expect(await proxiesOf({ HOME: folder, GOENV: join(folder, 'env') })).toEqual(['https://proxy.golang.org']);
    await writeFile(join(folder, 'env'), 'GOFLAGS=-x\nGOPROXY=https://go.example.com/,direct\n');
    expect(await proxiesOf({ GOENV: join(folder, 'env') })).toEqual(['https://go.example.com']);
    expect(await proxiesOf({ GOENV: join(folder, 'env'), GOPROXY: 'off' })).toEqual([]);
  });
});
