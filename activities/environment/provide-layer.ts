import { setTimeout as sleep } from 'node:timers/promises';
import type { EnvironmentLayerStore, LayerRef } from '../../db/for-worker/environment-layers.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { downloadArchive, uploadArchive } from './layer-archive.ts';
import { layerSchema, type LayerFiles, type StoredLayer } from './layer-files.ts';

export interface LayerDeps {
  layers: EnvironmentLayerStore;
  layerFiles: LayerFiles;
  /** Limits of the database: layers of a project, and bytes of its organization. */
  layerBounds: { maxLayers: number; maxBytes: number };
}

export interface LayerRequest {
  ref: LayerRef;
  signal: AbortSignal;
  /** Makes the layer in a folder of this machine. Called by one worker at a time. */
  build(folder: string, claim: LayerToBuild): Promise<StoredLayer>;
  /** Returns why a build failed, masked, for others that wait for the layer; null if they should build it themselves. */
  failureOf(error: unknown): string | null;
  /** How long a failure before this request counts. One after its start always does. */
  rememberMs: number;
}

/** A layer on this machine, or the failure of another request that built it. */
type ProvidedLayer =
  | (StoredLayer & { source: 'machine' | 'database' | 'setup' })
  | { source: 'failure'; failure: string; agoMs: number };

/** A layer that this worker has claimed, until another takes it over because this one was suspended. */
export interface LayerToBuild {
  /** Aborts with the request, and when another worker has taken the layer over. */
  signal: AbortSignal;
  /** Adds a notice that the setup starts to the job's timeline. Throws instead when another worker has the layer. */
  start(notice: TurnRef & { text: string }): Promise<void>;
}

/**
 * Lease of the worker that builds a layer. Once it expires, another worker may build the layer. It equals the heartbeat
 * timeout: after that, the job of a dead builder is attempted again and waits for the layer.
 */
const leaseMs = 2_000;
const extendEveryMs = 500;
const pollEveryMs = 500;
/** Largest part of an organization's space that one layer may take. */
const maxLayerShare = 0.5;

/**
 * Returns a layer on this machine: from an earlier job, from the database, or by building it. Concurrent callers on any
 * machine wait for the one that builds, and share its failure. A finished layer is on this machine before it is in the database, so that a
 * worker that is killed in between loses nothing.
 */
export async function provideLayer(deps: LayerDeps, request: LayerRequest): Promise<ProvidedLayer> {
  const { layers, layerFiles } = deps;
  const { ref, signal, rememberMs } = request;
  const startedAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const failureMs = Math.max(rememberMs, performance.now() - startedAt);
    const claim = await layers.claim({ ...ref, leaseMs, failureMs });
    const local = await layerFiles.find(ref);
    if (claim.state === 'complete') {
      if (local !== null) return { ...local, source: 'machine' };
      const fetched = await fetchLayer(deps, { ...request, ...claim });
      if (fetched !== null) return { ...fetched, source: 'database' };
    } else if (claim.state === 'claimed') {
      const built = await buildLayer(deps, { ...request, id: claim.id, local });
      if (built !== null) return built;
    } else if (local !== null) return { ...local, source: 'machine' };
    else if (claim.state === 'failed') return { ...claim, source: 'failure' };
    await sleep(pollEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Returns what a setup of the project installed last; null if there is none, or a larger one. Only the database says which
 * layer that is: this machine also keeps the packages of MCP servers, which no setup may run with its secrets.
 */
export async function lastLayer(
  deps: LayerDeps,
  { projectId, maxBytes, signal }: { projectId: string; maxBytes: number; signal: AbortSignal },
): Promise<StoredLayer | null> {
  const stored = await deps.layers.last(projectId);
  if (stored === null || layerSchema.parse(stored.description).bytes > maxBytes) return null;
  const ref = { projectId, key: stored.key };
  return (await deps.layerFiles.find(ref)) ?? (await fetchLayer(deps, { ...stored, ref, signal }));
}

/** Fetches a layer from the database; null if it was removed meanwhile, or is damaged and therefore removed now. */
async function fetchLayer(
  { layers, layerFiles }: LayerDeps,
  { ref, id, description, signal }: Pick<LayerRequest, 'ref' | 'signal'> & { id: string; description: unknown },
): Promise<StoredLayer | null> {
  const layer = layerSchema.parse(description);
  const folder = await layerFiles.createFolder();
  if (!(await downloadArchive(layers, { id, folder, sha256: layer.sha256, signal }))) {
    await layerFiles.discard(folder);
    await layers.remove(id);
    return null;
  }
  await layerFiles.add(ref, { folder, layer });
  return await layerFiles.find(ref);
}

/**
 * Builds a claimed layer, unless this machine has it, and stores it in the database. Returns null if another worker took
 * it over before it was built.
 */
async function buildLayer(
  { layers, layerFiles, layerBounds }: LayerDeps,
  { ref, id, local, signal, build, failureOf }: LayerRequest & { id: string; local: StoredLayer | null },
): Promise<(StoredLayer & { source: 'machine' | 'setup' }) | null> {
  let failure: string | null = null;
  const lost = new AbortController();
  const checkLease = (isHeld: boolean) => isHeld || lost.abort();
  const extend = () => void layers.renew(id, leaseMs).then(checkLease, () => undefined);
  const extending = setInterval(extend, extendEveryMs);
  const claim: LayerToBuild = {
    signal: AbortSignal.any([signal, lost.signal]),
    async start(notice) {
      checkLease(await layers.start(id, leaseMs, notice));
      claim.signal.throwIfAborted();
    },
  };
  try {
    const stored = local ?? (await buildHere(layerFiles, { ref, build: (folder) => build(folder, claim) }));
    const maxBytes = layerBounds.maxBytes * maxLayerShare;
    const isStored = await uploadArchive(layers, { id, folder: stored.folder, maxBytes, signal });
    if (isStored) await layers.complete({ id, description: stored.layer, ...layerBounds });
    return { ...stored, source: local === null ? 'setup' : 'machine' };
  } catch (error) {
    if (lost.signal.aborted && !signal.aborted) return null;
    failure = failureOf(error);
    throw error;
  } finally {
    clearInterval(extending);
    // a complete layer stays
    await layers.release(id, failure);
  }
}

async function buildHere(
  layerFiles: LayerFiles,
  { ref, build }: { ref: LayerRef; build(folder: string): Promise<StoredLayer> },
): Promise<StoredLayer> {
  const folder = await layerFiles.createFolder();
  try {
    await layerFiles.add(ref, await build(folder));
  } catch (error) {
    await layerFiles.discard(folder);
    throw error;
  }
  const stored = await layerFiles.find(ref);
  if (stored === null) throw new Error('A layer is gone right after it was made.');
  return stored;
}
