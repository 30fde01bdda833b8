import { z } from 'zod';
import type { AgentTool, Toolset } from '../tools/agent-tool.ts';
import { defineTool } from '../tools/define-tool.ts';
import { ToolProblem } from '../tools/tool-problem.ts';
import type { PinnedTool } from './pinned-tools.ts';

/** Most tools that are kept, of all jobs of this worker. */
const mostKept = 1_000;

/** Creates the function that returns the pinned tools of a turn. It keeps them, because their schemas are built once. */
export function createMcpToolset(): (pinned: readonly PinnedTool[]) => Toolset {
  const kept = new Map<string, AgentTool>();
  return (pinned) => {
    const entries = pinned.map((one): [string, AgentTool] => {
      const key = JSON.stringify(one);
      const tool = kept.get(key) ?? toolOf(one);
      kept.delete(key);
      kept.set(key, tool);
      return [one.name, tool];
    });
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
    return Object.fromEntries(entries);
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
