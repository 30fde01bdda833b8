import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { ImageBudget } from './image-budget.ts';
import { ImageError } from './image-error.ts';
import { readArchive, writeEntry } from './read-archive.ts';
import type { Layer } from './unpack-layer.ts';

/** An image as it was pulled: its settings, and its layers from the lowest to the highest. */
export interface ImageLayout {
  /** SHA-256 of its configuration, which names all its layers. */
  id: string;
  /** `NAME=value`. */
  variables: readonly string[];
  layers: Layer[];
}

/** Names of architectures in images. */
export type ImageArchitecture = 'amd64' | 'arm64';

interface FoundImage {
  config: string;
  layers: { file: string; mediaType: string }[];
}

const digest = z.string().regex(/^sha256:[\da-f]{64}$/);
const descriptor = z.object({
  mediaType: z.string().default(''),
  digest,
  platform: z.object({ architecture: z.string(), os: z.string() }).optional(),
});
const indexSchema = z.object({ manifests: z.array(descriptor).max(1_000) });
const manifestSchema = z.object({ config: descriptor, layers: z.array(descriptor).max(512) });
const savedName = /^(?:[\da-f]{64}(?:\.json|\.tar|\/layer\.tar)|blobs\/sha256\/[\da-f]{64})$/;
/** `docker save` before version 25 writes no index. */
const savedSchema = z.tuple([
  z.object({ Config: z.string().regex(savedName), Layers: z.array(z.string().regex(savedName)).max(512) }),
]);
const configSchema = z.object({
  architecture: z.string(),
  os: z.string(),
  config: z.object({ Env: z.array(z.string()).max(1_000).nullish() }).nullish(),
  rootfs: z.object({ diff_ids: z.array(digest).max(512) }),
});
const maxJsonBytes = 4 << 20;
const deepestIndex = 3;

/** Reads an image in a folder, in the layout of OCI or of `docker save`. Throws ImageError. */
export async function readImageLayout(folder: string, architecture: ImageArchitecture): Promise<ImageLayout> {
  const index = await readJson(join(folder, 'index.json'), indexSchema);
  const image = index === null ? await savedImage(folder) : await ociImage(folder, architecture, index);
  const config = await readJson(image.config, configSchema);
  if (config === null) throw damaged();
  if (config.os !== 'linux' || config.architecture !== architecture) {
    const platform = `${config.os}/${config.architecture}`.slice(0, 100);
    throw new ImageError('refused', `The image is for ${platform}, and this worker needs linux/${architecture}.`);
  }
  const layers = config.rootfs.diff_ids.flatMap((diffId, index) => {
    const layer = image.layers[index];
    return layer === undefined
      ? []
      : [{ diffId, mediaType: layer.mediaType, open: () => createReadStream(layer.file) }];
  });
  if (layers.length !== image.layers.length || layers.length !== config.rootfs.diff_ids.length) throw damaged();
  const id = createHash('sha256')
    .update(await readFile(image.config))
    .digest('hex');
  return { id, variables: config.config?.Env ?? [], layers };
}

/** Takes the files of an image out of an archive that `docker save`, `podman save` or `skopeo` wrote. */
export async function extractImage(
  archive: string,
  folder: string,
  { budget, signal }: { budget: ImageBudget; signal: AbortSignal },
): Promise<void> {
  await readArchive({
    source: createReadStream(archive),
    signal,
    onChunk: (chunk) => budget.spend({ bytes: chunk.length }),
    async onEntry(entry) {
      budget.spend({ entries: 1 });
      const name = entry.path.replace(/^\.\//, '');
      const isWanted = name === 'index.json' || name === 'manifest.json' || savedName.test(name);
      if (!isWanted || entry.type !== 'File') return;
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeEntry(await open(path, 'w', 0o600), entry);
    },
  });
}

async function ociImage(
  folder: string,
  architecture: ImageArchitecture,
  { manifests }: z.output<typeof indexSchema>,
  depth = 0,
): Promise<FoundImage> {
  const isFitting = ({ platform }: z.output<typeof descriptor>) =>
    platform === undefined || (platform.os === 'linux' && platform.architecture === architecture);
  const [found, ...others] = manifests.filter(isFitting);
  if (found === undefined)
    throw new ImageError('refused', `The image is not built for linux/${architecture}. Use another one.`);
  if (others.length > 0)
    throw new ImageError('refused', 'The archive has more than one image. Save one image to an archive.');
  const blobOf = (digest: string) => join(folder, 'blobs/sha256', digest.slice('sha256:'.length));
  if (/index|manifest\.list/.test(found.mediaType)) {
    const index = await readJson(blobOf(found.digest), indexSchema);
    if (index === null || depth === deepestIndex) throw damaged();
    return ociImage(folder, architecture, index, depth + 1);
  }
  const manifest = await readJson(blobOf(found.digest), manifestSchema);
  if (manifest === null) throw damaged();
  const layers = manifest.layers.map(({ digest, mediaType }) => ({ file: blobOf(digest), mediaType }));
  return { config: blobOf(manifest.config.digest), layers };
}

async function savedImage(folder: string): Promise<FoundImage> {
  const saved = await readJson(join(folder, 'manifest.json'), savedSchema);
  if (saved === null)
    throw new ImageError('refused', 'The archive holds no image. Save one with skopeo, podman or docker.');
  const [{ Config: config, Layers: layers }] = saved;
  return {
    config: join(folder, config),
    layers: layers.map((layer) => ({ file: join(folder, layer), mediaType: 'application/x-tar' })),
  };
}

/** Returns null if there is no such file. */
async function readJson<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema> | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  if (found.size > maxJsonBytes) throw damaged();
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw damaged({ cause });
  }
}

function damaged(options?: ErrorOptions): ImageError {
  return new ImageError('refused', 'The manifest of the image is damaged. Push or save the image again.', options);
}
