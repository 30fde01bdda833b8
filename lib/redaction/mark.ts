/** What stands where a secret was. */
export const mark = '[redacted]';
