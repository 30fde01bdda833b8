/** PostgreSQL stores no NUL; the replacement character stands in for it. */
export function toStoredText(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

/** JSON for a jsonb column, which refuses NUL and lone surrogates: both become the replacement character. */
export function toStoredJson(value: unknown): string | null {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) return null;
  // whole surrogate pairs are written raw; only lone ones are escaped
  return json.replaceAll(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (escape) => (escape === '\\\\' ? escape : '\\ufffd'));
}
