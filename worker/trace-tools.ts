import { context, trace } from '@opentelemetry/api';
import type { AgentTool, Toolset } from '../activities/tools/agent-tool.ts';
import type { TracingSettings } from '../lib/tracing/tracing-settings.ts';
import { endSpan, kindOf, tracer } from '../lib/tracing/turn-trace.ts';

/** Tools whose runs are spans after OpenTelemetry's conventions for generative AI. */
export function traceTools(toolset: Toolset, settings: TracingSettings | null): Toolset {
  if (settings === null) return toolset;
  const { capturesContent } = settings;
  return Object.fromEntries(Object.entries(toolset).map(([name, tool]) => [name, traced(name, tool, capturesContent)]));
}

function traced(name: string, tool: AgentTool, capturesContent: boolean): AgentTool {
  return {
    ...tool,
    async run(input, toolContext) {
      const span = tracer().startSpan(`execute_tool ${name}`, {
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': name,
          'gen_ai.tool.type': 'function',
          'gen_ai.tool.call.id': toolContext.toolCallId,
          ...(capturesContent ? { 'gen_ai.tool.call.arguments': JSON.stringify(input) } : {}),
        },
      });
      try {
        const output = await context.with(trace.setSpan(context.active(), span), () => tool.run(input, toolContext));
        if (capturesContent) span.setAttribute('gen_ai.tool.call.result', output.text);
        endSpan(span, output.isError ? 'tool_error' : null);
        return output;
      } catch (error) {
        endSpan(span, kindOf(error));
        throw error;
      }
    },
  };
}
