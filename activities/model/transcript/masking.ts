import { imageCharacters } from '../images.ts';
import type { StepRow, ToolCall, ToolResult } from '../../../db/for-worker/steps.ts';

/** Returns how many of the oldest steps have their outputs masked. */
export type Masking = (answered: readonly StepRow[]) => number;

/** Outputs of this many newest steps are always kept whole. */
const recentSteps = 10;
/** Older outputs up to this many characters are kept whole. */
const keptCharacters = 40_000;
/** Masking a shorter output would save nothing. */
const shortOutput = 400;

/**
 * Masks the older outputs at once when they are more than twice as long as the recent ones. Each masking makes the
 * provider read the recent outputs again at full price, because its cache ends where the request changes; this saves more
 * than it costs after about six steps.
 */
export const maskInChunks: Masking = (answered) => {
  const lengths = answered.map(({ toolResults }) => outputLength(toolResults));
  let masked = 0;
  let older = 0;
  let recent = 0;
  for (const [index, length] of lengths.entries()) {
    const aged = lengths[index - recentSteps] ?? 0;
    older += aged;
    recent += length - aged;
    if (older <= Math.max(keptCharacters, 2 * recent)) continue;
    masked = index + 1 - recentSteps;
    older = 0;
  }
  return masked;
};

/** Masks ten steps at a time. Only requests that earlier versions have stored were built with it. */
export const maskInTens: Masking = (answered) => {
  const length = answered.reduce((sum, { toolResults }) => sum + outputLength(toolResults), 0);
  return length > keptCharacters ? Math.max(0, Math.floor((answered.length - recentSteps) / 10) * 10) : 0;
};

/** Returns what the model reads instead of the output of a call. */
export function maskedOutput({ toolName, input }: ToolCall, output: string, hasImage = false): string {
  if (hasImage) return `${output}\n[The image is omitted; make the same call again if you need it]`;
  if (output.length <= shortOutput) return output;
  const path = typeof input === 'object' && input !== null && 'path' in input ? input.path : null;
  const what = typeof path === 'string' ? `${toolName} of ${path.slice(0, 200)}` : toolName;
  const etag = /\betag [0-9a-f]{6,64}\b/.exec(output.slice(0, 500))?.[0];
  const known = etag === undefined ? '' : `, ${etag}`;
  // a call of an MCP server may have changed something
  const remedy = toolName.includes('__') ? '' : '; make the same call again if you need them';
  return `[${output.length} characters of an earlier ${what}${known} omitted${remedy}]`;
}

/** Returns the length of tool outputs with what their images count for, in characters. */
export function outputLength(results: ToolResult[] | null): number {
  return results?.reduce((sum, { output, image }) => sum + output.length + (image ? imageCharacters : 0), 0) ?? 0;
}
