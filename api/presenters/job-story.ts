import type { ToldStep, ToldTurn } from '../../db/job-story.ts';
import type { PublicStep, PublicTurns } from '../job-story-schemas.ts';

/** The public form of a turn, field by field. */
export function presentTurn({
  turn,
  prompt,
  status,
  createdAt,
  endedAt,
  messages,
}: ToldTurn): PublicTurns['turns'][number] {
  return {
    turn,
    prompt,
    status,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    messages: messages.map(({ prompt, step, createdAt }) => ({
      prompt,
      step,
      createdAt: new Date(createdAt).toISOString(),
    })),
  };
}

/** The public form of a step; outputs of its tools are cut behind so many characters. */
export function presentStep(row: ToldStep, longestOutput: number): PublicStep {
  const results = new Map(row.toolResults?.map((result) => [result.toolCallId, result]));
  return {
    turn: row.turn,
    step: row.step,
    attempts: row.attempts,
    modelFailures: row.modelFailures,
    text: row.response?.text ?? null,
    toolCalls: (row.response?.toolCalls ?? []).map(({ toolCallId, toolName, input }) => {
      const result = results.get(toolCallId);
      return {
        toolCallId,
        toolName,
        input,
        output: result?.output.slice(0, longestOutput) ?? null,
        characters: result?.output.length ?? null,
        isError: result?.isError ?? false,
      };
    }),
    finishReason: row.finishReason,
    usage: {
      inputTokens: row.inputTokens,
      outputTokens: row.outputTokens,
      costUsd: row.costMicros === null ? null : row.costMicros / 1e6,
    },
    changedFiles: row.changedFiles,
    hasChanged: row.hasChanged,
    startedAt: row.startedAt.toISOString(),
    answeredAt: row.answeredAt?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}
