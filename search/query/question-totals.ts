export interface QuestionTotals {
  /** Number of times the questions were asked. */
  count: number;
  /** Null without questions. */
  lastAskedAt: Date | null;
}

/** Returns how often, and when last, questions were asked. */
export function totalsOf(questions: readonly { count: number; lastAskedAt: Date }[]): QuestionTotals {
  const last = Math.max(...questions.map(({ lastAskedAt }) => lastAskedAt.getTime()));
  return {
    count: questions.reduce((sum, { count }) => sum + count, 0),
    lastAskedAt: Number.isFinite(last) ? new Date(last) : null,
  };
}
