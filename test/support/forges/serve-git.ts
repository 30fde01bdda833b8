import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

const gitPath = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

/** Returns the repository and the service that a git client requests; null for any other request. */
export function gitRequestOf(url: URL): { owner: string; name: string; path: string; isWrite: boolean } | null {
  const [, owner, name, path] = gitPath.exec(url.pathname) ?? [];
  if (owner === undefined || name === undefined || path === undefined) return null;
  const isWrite = path === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack';
  return { owner, name, path, isWrite };
}

/** Lets git itself answer a request of its smart HTTP protocol from a bare repository; `isLost` cuts the response off. */
export function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  { repository, path, query, isLost }: { repository: string; path: string; query: string; isLost: boolean },
): void {
  const header = (name: string) => String(request.headers[name] ?? '');
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_PROJECT_ROOT: repository,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: header('git-protocol'),
      PATH_INFO: `/${path}`,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      REMOTE_USER: 'bot',
      REMOTE_ADDR: '127.0.0.1',
    },
  });
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  let hasHead = false;
  child.stdout.on('data', (chunk: Buffer) => {
    if (isLost) return;
    if (hasHead) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    hasHead = true;
    writeHead(response, head.subarray(0, end).toString());
    response.write(head.subarray(end + 4));
  });
  child.on('close', () => {
    if (isLost) return void response.destroy();
    if (!hasHead && !response.headersSent) response.writeHead(500);
    response.end();
  });
  response.on('close', () => child.kill());
}

function writeHead(response: ServerResponse, text: string): void {
  let status = 200;
  for (const line of text.split('\r\n')) {
    const [name = '', value = ''] = line.split(/:\s*/, 2);
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, line.slice(name.length + 1).trim());
  }
  response.writeHead(status);
}
