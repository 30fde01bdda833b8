import { access } from 'node:fs/promises';
import { createServer } from 'node:http';
import { blobsOf, type TestImage } from '../sandbox/oci-image.ts';
import { listening } from './listening.ts';

/** A registry on the loopback interface that serves images by tag and digest, without TLS. */
export interface ImageRegistry extends AsyncDisposable {
  /** Its host and port. */
  host: string;
  /** Paths that were requested. */
  asked: string[];
}

/** Reports whether skopeo is installed; without it, the tests of pulled images are skipped. */
export async function hasSkopeo(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => (console.error('skopeo is missing. The tests of pulled images are left out.'), false),
  );
}

/** Starts a registry. A `secret` image needs a credential; a blob of a `slow` one never arrives. */
export async function startRegistry(images: Readonly<Record<string, TestImage>>): Promise<ImageRegistry> {
  const asked: string[] = [];
  const stored = Object.entries(images).map(([name, image]) => ({ name, ...blobsOf(image) }));
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const answer = (status: number, body: Buffer | string, headers: Record<string, string> = {}) =>
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
    const [, name = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    if (path === '/v2/') return answer(200, '{}');
    if (name === 'secret')
      return answer(401, '{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}');
    const found = stored.find((image) => image.name === name);
    if (kind === 'manifests' && found !== undefined && ['1', found.manifest.digest].includes(reference)) {
      const type = 'application/vnd.oci.image.manifest.v1+json';
      return answer(200, found.manifest.text, { 'content-type': type, 'docker-content-digest': found.manifest.digest });
    }
    if (kind === 'manifests')
      return answer(404, '{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
    const blob = found?.blobs.get(reference);
    if (blob === undefined) return answer(404, '{"errors":[{"code":"BLOB_UNKNOWN","message":"blob unknown"}]}');
    if (name !== 'slow') return answer(200, blob);
    response.writeHead(200).flushHeaders();
  });
  const at = await listening(server);
  const { port } = at;
  return {
    host: `127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}
