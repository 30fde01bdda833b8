import { createHash } from 'node:crypto';
import { asSchema, jsonSchema, tool, zodSchema, type Tool, type ToolSet } from 'ai';
import type { ToolDefinition } from '../../db/jobs/bundle-schema.ts';
import type { AgentTool, Toolset } from '../tools/agent-tool.ts';

/** The library builds a tool's JSON schema once per definition, so each tool keeps its definition. */
const definitions = new WeakMap<AgentTool, Tool>();

/** Returns the tools in the form of the library. */
export function definitionsOf(toolset: Toolset): ToolSet {
  return Object.fromEntries(Object.entries(toolset).map(([name, agentTool]) => [name, definitionOf(agentTool)]));
}

function definitionOf(agentTool: AgentTool): Tool {
  const known = definitions.get(agentTool);
  if (known !== undefined) return known;
  const { description, inputSchema } = agentTool;
  const definition = tool({ description, inputSchema: schemaOf(agentTool) ?? zodSchema(inputSchema) });
  definitions.set(agentTool, definition);
  return definition;
}

/** Returns the schema of a tool that an MCP server describes; null for others. */
function schemaOf({ jsonSchema: own, inputSchema }: AgentTool) {
  if (own === undefined) return null;
  return jsonSchema<unknown>(own, {
    validate(value) {
      const parsed = inputSchema.safeParse(value);
      return parsed.success ? { success: true, value: parsed.data } : { success: false, error: parsed.error };
    },
  });
}

/** The tools of a request as their model read them. */
export interface SentDefinitions {
  hash: string;
  /** JSON of a list of `ToolDefinition`. */
  definitions: string;
}

const sentTexts = new WeakMap<Tool, string>();

/** Returns what a model reads of the tools. */
export async function sentDefinitions(toolset: Toolset): Promise<SentDefinitions> {
  const texts = await Promise.all(Object.entries(toolset).map(([name, agentTool]) => sentTextOf(name, agentTool)));
  const definitions = `[${texts.join(',')}]`;
  return { hash: createHash('sha256').update(definitions).digest('hex').slice(0, 32), definitions };
}

async function sentTextOf(name: string, agentTool: AgentTool): Promise<string> {
  const definition = definitionOf(agentTool);
  const known = sentTexts.get(definition);
  if (known !== undefined) return known;
  const inputSchema = { ...(await asSchema(definition.inputSchema).jsonSchema) };
  const text = JSON.stringify({ name, description: agentTool.description, inputSchema } satisfies ToolDefinition);
  sentTexts.set(definition, text);
  return text;
}
