import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TestSite } from '../assistant/site.ts';
import type { ServedApi } from '../api/serve.ts';

/** Connects the SDK's own client to the MCP server of a site. */
export async function connectMcp(
  api: Pick<ServedApi, 'url'>,
  { site, assistantKey }: Pick<TestSite, 'site' | 'assistantKey'>,
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${api.url}/mcp/${site.domain}`), {
    requestInit: { headers: { ...headers, authorization: `Bearer ${assistantKey}` } },
  });
  await client.connect(transport);
  // it validates structured results once it has seen the schemas
  await client.listTools();
  return client;
}

/** The text of a tool's result. */
export function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  return (result.content as { text: string }[]).map(({ text }) => text).join('\n');
}
