import { pinTools } from '../../../activities/mcp/pinned-tools.ts';
import { createToolCaller } from '../../../activities/mcp/call-tools.ts';
import type { ServerJob } from '../../../activities/mcp/server-process.ts';
import { createLayerFiles } from '../../../activities/environment/layer-files.ts';
import { plainEnvironment } from '../../../activities/environment/prepared-environment.ts';
import type { Commands } from '../../../activities/tools/commands.ts';
import { createEgress } from '../../../lib/network/egress.ts';
import type { McpServer, ServerValue } from '../../../db/organizations/project-tools.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { textResult, type TestMcpServer, type TestTool } from '../../support/servers/mcp-server.ts';

export const { signal } = new AbortController();
const ref = { jobId: 'job_1', turn: 1, step: 1 };
export const testJob: ServerJob = {
  id: 'job_1',
  environment: plainEnvironment,
  project: { id: 'prj_1', mayRun: true },
};
export const token = 'Bearer token-of-docs-0123456789';

export const echo: TestTool = {
  name: 'echo',
  description: 'Returns its text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } }, required: ['text'] },
  annotations: { readOnlyHint: true },
  call: ({ text }) => textResult(String(text)),
};

interface SceneOptions {
  commands?: Commands;
  /** Headers or environment variables of the server. */
  values?: readonly ServerValue[];
}

/** The same with a server that runs as a command, and its environment variables. */
export function commandSceneOf(command: string[], commands: Commands, values: readonly ServerValue[] = []) {
  return sceneOf({ url: '', host: '' }, { url: null, command }, [], { commands, values });
}

/** Everything that a worker needs for a project with one server, and effects in memory. */
export function sceneOf(
  server: Pick<TestMcpServer, 'url' | 'host'>,
  change: Partial<McpServer> = {},
  privateHosts = [server.host],
  { commands = null, values = [{ name: 'Authorization', value: token }] }: SceneOptions = {},
) {
  const secrets = createKnownSecrets([]);
  const stored = new Map<string, unknown>();
  const servers: McpServer[] = [
    {
      name: 'docs',
      url: server.url,
      command: null,
      tools: null,
      readOnly: 'annotated',
      headerNames: ['Authorization'],
      envNames: [],
      ...change,
    },
  ];
  const deps = {
    secrets,
    commands,
    layerFiles: createLayerFiles({ directory: commands?.directory ?? '', maxBytes: 1e9 }),
    network: { egress: createEgress({ privateHosts }), privateHosts },
    toolServers: { read: async () => ({ servers, credentials: { docs: [...values] } }) },
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
    pin: (job = testJob) => pinTools(deps, { job, signal }),
    caller: (stop = signal, job = testJob) => createToolCaller(deps, { ref, job, signal: stop }),
  };
}
