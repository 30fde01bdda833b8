/**
 * How long a test waits for an expected event, because a machine may stall for a minute. A passing test seldom waits
 * that long.
 */
export const patienceMs = 120_000;
