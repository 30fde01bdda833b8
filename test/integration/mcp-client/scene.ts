import { pinTools } from '../../../activities/mcp/pinned-tools.ts';
import { createToolCaller } from '../../../activities/mcp/call-tools.ts';
import { createEgress } from '../../../lib/network/egress.ts';
import type { McpServer } from '../../../db/organizations/project-tools.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { textResult, type TestMcpServer, type TestTool } from '../../support/mcp-server.ts';

export const { signal } = new AbortController();
const ref = { jobId: 'job_1', turn: 1, step: 1 };
export const token = 'Bearer token-of-docs-0123456789';

export const echo: TestTool = {
  name: 'echo',
  description: 'Returns its text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } }, required: ['text'] },
  annotations: { readOnlyHint: true },
  call: ({ text }) => textResult(String(text)),
};

/** Everything that a worker needs for a project with one server, and effects in memory. */
export function sceneOf(
  server: Pick<TestMcpServer, 'url' | 'host'>,
  change: Partial<McpServer> = {},
  privateHosts = [server.host],
) {
  const secrets = createKnownSecrets([]);
  const stored = new Map<string, unknown>();
  const servers: McpServer[] = [
    { name: 'docs', url: server.url, tools: null, readOnly: 'annotated', headerNames: ['Authorization'], ...change },
  ];
  const deps = {
    secrets,
    network: { egress: createEgress({ privateHosts }), privateHosts },
    toolServers: { read: async () => ({ servers, credentials: { docs: [{ name: 'Authorization', value: token }] } }) },
    effects: {
      claim: async ({ effect }: { effect: string }) => ({ fence: 1, result: stored.get(effect) ?? null }),
      storeResult: async ({ effect, result }: { effect: string; result: unknown }) => {
        stored.set(effect, result);
        return true;
      },
    },
  };
  return {
    secrets,
    stored,
    servers,
    pin: () => pinTools(deps, { projectId: 'prj_1', signal }),
    caller: (stop = signal) => createToolCaller(deps, { ref, projectId: 'prj_1', signal: stop }),
  };
}
