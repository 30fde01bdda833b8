import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { headOf } from '../clean-output.ts';
import { printable } from '../history/printable.ts';
import { countText, cutToBytes, fenced, maxOutputBytes } from '../tool-output.ts';
import { ToolProblem } from '../tool-problem.ts';

/** Room for the fence and the notes. */
const maxBytes = maxOutputBytes - 4_096;

export const fetchTool = defineTool({
  description: describeFetch([]),
  inputSchema: z.object({
    url: z.string().min(1).max(2_048).describe('Address of the page, with https:// or http://'),
    offset: z.int().min(0).max(10_000_000).default(0).describe('First character of the page to show, from 0'),
  }),
  isReadOnly: true,
  async run({ url: wanted, offset }, { fetchPage }) {
    if (fetchPage === undefined) throw new ToolProblem('No web page can be fetched here.');
    const { url, text } = await fetchPage(wanted);
    const page = printable(text.toWellFormed().trim(), Infinity);
    if (page === '') return `${url} has no text.`;
    if (offset >= page.length) throw new ToolProblem(`The page has only ${countText(page.length, 'character')}.`);
    const rest = page.slice(offset).toWellFormed();
    const kept = cutToBytes(rest, maxBytes);
    const shown = kept === rest ? rest : headOf(kept, kept.length);
    const next = offset + shown.length;
    const output = fenced(url, shown);
    const left = page.length - next;
    return left === 0 ? output : `${output}\n[${countText(left, 'more character')}; continue with offset ${next}.]`;
  },
});

/** Returns what a model reads about the tool. */
export function describeFetch(hosts: readonly string[]): string {
  return `Fetches a web page by GET and returns its text, HTML as Markdown. Pages can be fetched from ${hosts.join(', ')} and from nowhere else.`;
}
