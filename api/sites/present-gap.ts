import type { ConversationRow } from '../../db/sites/conversations.ts';
import type { PublicGap } from './gap-schemas.ts';
import { mayBegin, type Gap } from './gaps.ts';

export function presentGap(gap: Gap): PublicGap {
  const { id, label, state, questions, count: asked, lastAskedAt: lastAsked, job, checkedAt } = gap;
  return {
    id,
    label,
    state,
    questions: questions.map(({ text, count, lastAskedAt, answeredNow, notFound, votedDown, remarks }) => ({
      text,
      count,
      lastAskedAt: lastAskedAt.toISOString(),
      answeredNow,
      notFound,
      votedDown,
      remarks,
    })),
    count: asked,
    lastAskedAt: lastAsked?.toISOString() ?? null,
    job:
      job === null
        ? null
        : { id: job.id, projectId: job.projectId, status: job.status, prLink: job.prLink, prState: job.prState },
    mayBegin: mayBegin(gap),
    checkedAt: checkedAt?.toISOString() ?? null,
  };
}

export function presentConversation(row: ConversationRow) {
  return {
    threadId: row.threadId,
    fp: row.fp,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    question: row.question,
    questions: row.questions,
    unanswered: row.unanswered,
    up: row.up,
    down: row.down,
    sources: row.sources,
  };
}
