import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Header, Pax, type HeaderData } from 'tar';

/** An entry of a layer, with any header that a hostile image could have. */
export type LayerEntry = HeaderData & { path: string; content?: string | Buffer };

export interface TestImage {
  /** Each layer as entries, or as a finished archive. */
  layers: (LayerEntry[] | Buffer)[];
  variables?: string[];
  architecture?: string;
  isCompressed?: boolean;
  /** Hashes of the layers that the image names; by default their real ones. */
  diffIds?: string[];
}

const block = 512;

/** Returns a tar archive with exactly these entries. */
export function tarOf(entries: readonly LayerEntry[]): Buffer {
  const parts = entries.flatMap(({ content = '', ...header }) => {
    const data = Buffer.from(content);
    const head = Buffer.alloc(block);
    const long = header.path.length > 100 ? new Pax({ path: header.path }).encode() : Buffer.alloc(0);
    new Header({ mode: 0o644, type: 'File', size: data.length, mtime: new Date(1e12), ...header }).encode(head, 0);
    return [long, head, data, Buffer.alloc((block - (data.length % block)) % block)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

export const architectureOfImages = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** Returns the blobs of an image in the layout of OCI, and its manifest. */
export function blobsOf(image: TestImage): { blobs: Map<string, Buffer>; manifest: { digest: string; text: Buffer } } {
  const { variables = [], architecture = architectureOfImages, isCompressed = true } = image;
  const blobs = new Map<string, Buffer>();
  const add = (data: Buffer) => {
    const digest = digestOf(data);
    blobs.set(digest, data);
    return { digest, size: data.length };
  };
  const archives = image.layers.map((layer) => (Buffer.isBuffer(layer) ? layer : tarOf(layer)));
  const layers = archives.map((archive) => ({
    mediaType: `application/vnd.oci.image.layer.v1.tar${isCompressed ? '+gzip' : ''}`,
    ...add(isCompressed ? gzipSync(archive) : archive),
  }));
  const config = {
    architecture,
    os: 'linux',
    config: { Env: variables },
    rootfs: { type: 'layers', diff_ids: image.diffIds ?? archives.map(digestOf) },
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...add(Buffer.from(JSON.stringify(config))) },
    layers,
  };
  const text = Buffer.from(JSON.stringify(manifest));
  return { blobs, manifest: { digest: add(text).digest, text } };
}

/** Writes an image as an archive in the layout of OCI. */
export async function writeImage(file: string, image: TestImage): Promise<void> {
  const { blobs, manifest } = blobsOf(image);
  const described = {
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: manifest.digest,
    size: manifest.text.length,
  };
  const index = { schemaVersion: 2, manifests: [described] };
  const files: LayerEntry[] = [
    { path: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' },
    { path: 'index.json', content: JSON.stringify(index) },
  ];
  for (const [digest, content] of blobs) files.push({ path: `blobs/${digest.replace(':', '/')}`, content });
  await writeFile(file, tarOf(files));
}

function digestOf(data: Buffer): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

/** Returns the machine's shell, further programs and what they load, as a layer. */
export async function shellWithLibraries(...programs: string[]): Promise<LayerEntry[]> {
  const paths = ['/bin/sh', ...programs];
  const { stdout } = await promisify(execFile)('ldd', paths);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  const entries = [...new Set([...paths, ...libraries])].map(async (path) => {
    return { path: path.slice(1), content: await readFile(path), mode: 0o755 };
  });
  return Promise.all(entries);
}
