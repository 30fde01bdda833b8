import type { TimelineStep } from '../../db/jobs/job-timeline.ts';
import type { TimelineTurn } from '../../db/jobs/timeline-turns.ts';
import type { ImageRef } from '../../db/jobs/job-images.ts';
import { presentActor } from '../administration/actor.ts';
import type { PublicStep, PublicTurns } from './job-timeline-schemas.ts';

/** Returns the public form of a turn, field by field. */
export function presentTurn({
  turn,
  prompt,
  images,
  status,
  createdAt,
  endedAt,
  baseCommit,
  headCommit,
  messages,
  startedBy,
  endedBy,
}: TimelineTurn): PublicTurns['turns'][number] {
  return {
    turn,
    prompt,
    images: images.map(presentImage),
    status,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    baseCommit,
    headCommit,
    startedBy: presentActor(startedBy),
    endedBy: presentActor(endedBy),
    messages: messages.map(({ prompt, images, step, createdAt, sentBy }) => ({
      prompt,
      images: images.map(presentImage),
      step,
      createdAt: new Date(createdAt).toISOString(),
      sentBy: presentActor(sentBy),
    })),
  };
}

function presentImage({ hash, mediaType, width, height, name }: ImageRef) {
  return { hash, mediaType, width, height, name };
}

/** Returns the public form of a step, field by field. */
export function presentStep(row: TimelineStep): PublicStep {
  return {
    turn: row.turn,
    step: row.step,
    attempts: row.attempts,
    modelFailures: row.modelFailures,
    worker: row.worker,
    lostAttempts: row.lostAttempts.map(({ attempt, worker, startedAt, endedAt }) => ({
      attempt,
      worker,
      startedAt: new Date(startedAt).toISOString(),
      endedAt: new Date(endedAt).toISOString(),
    })),
    model: row.model,
    failedModels: row.failedModels.map(({ model, failures }) => ({ model, failures })),
    text: row.text,
    toolCalls: row.toolCalls.map(({ toolCallId, toolName, input, output, characters, isError, image, durationMs }) => ({
      toolCallId,
      toolName,
      input,
      output,
      characters,
      isError,
      image: image === null ? null : presentImage(image),
      durationMs,
    })),
    finishReason: row.finishReason,
    usage: {
      inputTokens: row.inputTokens,
      cachedInputTokens: row.cachedTokens,
      cacheWriteTokens: row.cacheWriteTokens,
      freshInputTokens: row.inputTokens - row.cachedTokens - row.cacheWriteTokens,
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
