import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

// Server that tests start as a command. It is bundled into one text, so it imports nothing else of this repository.

const answers: Record<string, (input: Record<string, unknown>) => string> = {
  echo: ({ text }) => String(text),
  token: () => `The token is ${process.env['SERVICE_TOKEN']}.`,
  look: () =>
    JSON.stringify({
      here: readdirSync('.'),
      home: process.env['HOME'],
      pid: process.pid,
      names: Object.keys(process.env).toSorted(),
      repository: existsSync('README.md'),
    }),
  keep: () => {
    const found = existsSync('kept');
    writeFileSync('kept', '');
    return found ? 'kept' : 'new';
  },
};
const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(answers).map((name) => ({
    name,
    inputSchema: { type: 'object' as const },
    annotations: { readOnlyHint: name !== 'keep' },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: input = {} } }) => ({
  content: [{ type: 'text', text: answers[name]?.(input) ?? 'unknown' }],
}));
console.error('ready');
void server.connect(new StdioServerTransport());
