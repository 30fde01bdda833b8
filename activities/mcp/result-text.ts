import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { fenced, maxOutputBytes, sizeText } from '../tools/tool-output.ts';
import { printable } from '../tools/history/printable.ts';

const mostItems = 200;
const noteBytes = 2_048;

/** Returns a server's result as text: its texts within a fence that they cannot close, and notes on the rest. */
export function resultText(server: string, { content, structuredContent }: CallToolResult): string {
  const texts: string[] = [];
  const notes: string[] = [];
  for (const item of content.slice(0, mostItems)) {
    if (item.type === 'text') texts.push(item.text);
    else if (item.type === 'resource' && 'text' in item.resource) texts.push(item.resource.text);
    else if (item.type === 'resource_link') texts.push(`${item.name}: ${item.uri}`);
    else notes.push(omitted(item));
  }
  if (content.length > mostItems) notes.unshift(`${content.length - mostItems} more items omitted`);
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  const whole = Buffer.from(texts.join('\n').toWellFormed().replaceAll('\0', '\ufffd'));
  const kept = printable(whole.subarray(0, maxOutputBytes), maxOutputBytes - noteBytes);
  if (whole.length > maxOutputBytes - noteBytes) notes.unshift(`the text is cut here; it has ${whole.length} bytes`);
  return [
    fenced(`the MCP server ${server}`, kept === '' ? '(no text)' : kept),
    ...notes.slice(0, 20).map((note) => `[${note}]`),
  ].join('\n');
}

function omitted(item: Exclude<CallToolResult['content'][number], { type: 'text' | 'resource_link' }>): string {
  if (item.type === 'resource') return `a file without text omitted`;
  return `an ${item.type} of ${sizeText(Math.floor((item.data.length * 3) / 4))} omitted`;
}
