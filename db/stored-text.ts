/** Returns a text that PostgreSQL can store: the replacement character replaces NUL. */
export function toStoredText(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

/** Returns JSON for a jsonb column, which rejects NUL and lone surrogates: the replacement character replaces both. */
export function toStoredJson(value: unknown): string | null {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) return null;
  // whole surrogate pairs are written raw; only lone ones are escaped
  return json.replaceAll(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (escape) => (escape === '\\\\' ? escape : '\\ufffd'));
}
