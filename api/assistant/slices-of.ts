/** Splits a text into pieces of about `length` characters without splitting surrogate pairs. */
export function* slicesOf(text: string, length: number): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = start + length;
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}
