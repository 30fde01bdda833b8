import { createPageFetcher, createPageNetwork } from '../../../activities/tools/fetch/fetch-page.ts';
import { fetchTool } from '../../../activities/tools/fetch/fetch-tool.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import type { Resolve } from '../../../lib/network/public-lookup.ts';

export const token = 'token-of-docs-0123456789';

/** Resolves every name to this machine. */
export const toLoopback: Resolve = (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);

export interface SceneOptions {
  /** Hosts that both the project and the operator allow. */
  hosts: string[];
  operators?: string[];
  /** Those of the operator's hosts that may have a private address; all hosts by default. */
  privateHosts?: string[];
  resolve?: Resolve;
  signal?: AbortSignal;
}

/** Returns the tool as a job calls it. */
export function fetcherOf(options: SceneOptions) {
  const { hosts, operators = hosts, privateHosts = hosts, resolve = toLoopback } = options;
  const { signal = new AbortController().signal } = options;
  const secrets = createKnownSecrets([token]);
  const network = createPageNetwork({ hosts: operators, privateHosts, resolve });
  const fetchPage = createPageFetcher(network, { organizationId: 'org_one', hosts, maskSecrets: secrets.mask, signal });
  return (url: string, offset?: number) => fetchTool.run({ url, offset }, { root: '/nowhere', signal, fetchPage });
}
