import type { ToolCall, ToolResult } from '../../db/for-worker/steps.ts';
import { inputProblem } from './define-tool.ts';
import { repairInput } from './repair-input.ts';
import { countText, cappedOutput } from './tool-output.ts';
import type { AgentTool, ToolContext, ToolOutput, Toolset } from './agent-tool.ts';
import { allOf } from '../../lib/all-of.ts';

export type CallCheck = { ok: true; input: unknown } | { ok: false; problem: string };

interface TimedOutput extends ToolOutput {
  durationMs: number;
}

const parallelCalls = 8;
/**
 * Longest output of all calls of one answer, in bytes. More fills the context window, and takes long to store and to
 * send.
 */
const maxBytes = 512 * 1024;
const shortOutput = 1_000;
/** Largest share of the context window that they fill, so that the next call need not replace them by notes at once. */
const outputShare = 0.4;
const overLimit = (limit: number) =>
  `[Not shown: the outputs of this answer exceed ${Math.floor(limit / 1024)} KB. The call has run; read less at once.]`;

/** Returns the input of a call as its tool takes it, or the sentence for the model about an invalid call. */
export function validateCall(toolset: Toolset, call: { toolName: string; input: unknown }): CallCheck {
  const tool = toolOf(toolset, call.toolName);
  if (tool === null) return { ok: false, problem: unknownTool(toolset, call.toolName) };
  const parsed = tool.inputSchema.safeParse(call.input);
  if (parsed.success) return { ok: true, input: parsed.data };
  if (typeof call.input === 'string') {
    return { ok: false, problem: `The input of ${call.toolName} is not a JSON object; call it again.` };
  }
  const repaired = repairInput(tool.inputSchema, call.input);
  if (repaired !== null) return { ok: true, input: repaired.data };
  return { ok: false, problem: `${call.toolName}: ${inputProblem(parsed.error)}` };
}

/**
 * Runs the tool calls of one answer and returns the results in the order of the calls. Consecutive read-only calls run
 * concurrently, all others one after another; `finish` is last, and is refused when a change failed. `window` is the context
 * window of the model that reads the results, in tokens. An unexpected
 * error (a full disk, a missing tree, an abort) is thrown once the running calls have ended.
 */
export async function runBatch(
  toolset: Toolset,
  calls: ToolCall[],
  { window = Infinity, ...context }: ToolContext & { window?: number },
): Promise<ToolResult[]> {
  const outputs = new Map<ToolCall, TimedOutput>();
  const formerEtags = new Map<string, string>();
  const run = async (call: ToolCall) => {
    const startedAt = performance.now();
    const output = await runCall(toolset, call, { ...context, formerEtags });
    outputs.set(call, { ...output, durationMs: Math.round(performance.now() - startedAt) });
  };
  const finishing = calls.filter(({ toolName }) => toolName === 'finish');
  for (const group of groupsOf(
    toolset,
    calls.filter(({ toolName }) => toolName !== 'finish'),
  )) {
    context.signal.throwIfAborted();
    await allOf(group.map(run));
  }
  const failed = calls.filter(
    (call) => outputs.get(call)?.isError === true && isReadOnly(toolset, call) !== true,
  ).length;
  for (const call of finishing) {
    if (failed === 0) await run(call);
    else outputs.set(call, { ...refusedFinish(failed), durationMs: 0 });
  }
  const limit = Math.min(maxBytes, window * outputShare * 3.5);
  let bytes = 0;
  return calls.map((call) => {
    const result = resultOf(call, outputs.get(call));
    bytes += Buffer.byteLength(result.output);
    return bytes <= limit || result.output.length <= shortOutput ? result : { ...result, output: overLimit(limit) };
  });
}

/** Returns groups of calls that may run concurrently, in order. */
function groupsOf(toolset: Toolset, calls: ToolCall[]): ToolCall[][] {
  const groups: ToolCall[][] = [];
  let open: ToolCall[] | null = null;
  for (const call of calls) {
    const isTogether = isReadOnly(toolset, call) === true;
    if (open !== null && isTogether && open.length < parallelCalls) {
      open.push(call);
      continue;
    }
    const group = [call];
    groups.push(group);
    open = isTogether ? group : null;
  }
  return groups;
}

async function runCall(toolset: Toolset, call: ToolCall, context: ToolContext): Promise<ToolOutput> {
  if (call.invalid !== undefined) return { text: cappedOutput(call.invalid), isError: true };
  const check = validateCall(toolset, call);
  const tool = toolOf(toolset, call.toolName);
  if (!check.ok || tool === null) {
    return { text: cappedOutput(check.ok ? unknownTool(toolset, call.toolName) : check.problem), isError: true };
  }
  return tool.run(check.input, { ...context, toolCallId: call.toolCallId });
}

function resultOf({ toolCallId, toolName }: ToolCall, output: TimedOutput | undefined): ToolResult {
  if (output === undefined) throw new Error(`the call ${toolCallId} was not run`);
  const { text, isError, durationMs, image } = output;
  return { toolCallId, toolName, output: text, isError, durationMs, ...(image && { image }) };
}

function refusedFinish(failed: number): ToolOutput {
  const text = `The work is not finished: ${countText(failed, 'call')} beside finish failed. Look at the results, then call finish again.`;
  return { text, isError: true };
}

function toolOf(toolset: Toolset, name: string): AgentTool | null {
  return Object.hasOwn(toolset, name) ? (toolset[name] ?? null) : null;
}

function isReadOnly(toolset: Toolset, { toolName }: ToolCall): boolean | null {
  return toolOf(toolset, toolName)?.isReadOnly ?? null;
}

function unknownTool(toolset: Toolset, name: string): string {
  return `There is no tool named ${JSON.stringify(name.slice(0, 100))}. The tools are ${Object.keys(toolset).join(', ')}.`;
}
