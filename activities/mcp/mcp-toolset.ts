import { z } from 'zod';
import type { AgentTool, Toolset } from '../tools/agent-tool.ts';
import { defineTool } from '../tools/define-tool.ts';
import { ToolProblem } from '../tools/tool-problem.ts';
import type { PinnedTool } from './pinned-tools.ts';

/** Most tools that are kept, of all jobs of this worker. */
const maxKept = 1_000;

/** Returns the pinned tools of a turn. */
export type McpToolset = (pinned: readonly PinnedTool[]) => Toolset;

/**
 * Creates the function that returns the pinned tools of a turn. It keeps them, because their schemas are built once.
 * `traceTools` makes their runs visible in traces.
 */
export function createMcpToolset(traceTools: (toolset: Toolset) => Toolset = (toolset) => toolset): McpToolset {
  const kept = new Map<string, Toolset>();
  return (pinned) => {
    const tools = pinned.map((one) => {
      const key = JSON.stringify(one);
      const tool = kept.get(key) ?? traceTools({ [one.name]: toolOf(one) });
      kept.delete(key);
      kept.set(key, tool);
      return tool;
    });
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break;
      kept.delete(oldest);
    }
    return Object.assign({}, ...tools);
  };
}

function toolOf(pinned: PinnedTool): AgentTool {
  const { description, inputSchema, isReadOnly } = pinned;
  return {
    ...defineTool({
      description,
      inputSchema: z.record(z.string(), z.unknown()),
      isReadOnly,
      async run(input, { callServer, toolCallId = '' }) {
        const output = await callServer?.(pinned, input, toolCallId);
        if (output === undefined) throw new ToolProblem('No MCP server can be called here.');
        if (output.isError) throw new ToolProblem(output.text);
        return output.text;
      },
    }),
    jsonSchema: inputSchema,
  };
}
