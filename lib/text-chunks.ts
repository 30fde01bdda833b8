/** Cuts a text into chunks of at most `length` UTF-16 code units, at least two, without splitting a surrogate pair. */
export function* textChunks(text: string, length: number): Generator<{ offset: number; text: string }> {
  for (let offset = 0; offset < text.length;) {
    const end = offset + length;
    const isSplit = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
    const chunk = text.slice(offset, isSplit ? end - 1 : end);
    yield { offset, text: chunk };
    offset += chunk.length;
  }
}
