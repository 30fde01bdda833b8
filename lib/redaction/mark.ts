/** The replacement for a redacted secret. */
export const mark = '[redacted]';
