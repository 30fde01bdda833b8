import { decodeAttribute } from './character-references.ts';
import { plainMarkdown } from './mdx.ts';
import type { Operation } from './openapi.ts';

/**
 * An HTML tag, outside code, of the kinds that API descriptions use; other tags may be placeholders, such as `<name>`.
 */
const tag =
  /<\/?(?:a|abbr|b|blockquote|br|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|i|img|li|ol|p|pre|small|span|strong|su[bp]|summary|table|tbody|t[dhr]|thead|u|ul)(?:\s[^<>]{0,2000})?\/?>/i;

/** Decodes character references in the texts of operations, and converts HTML to Markdown. */
export async function plainOperations(operations: Operation[]): Promise<Operation[]> {
  const plain: Operation[] = [];
  for (const operation of operations) {
    const { title, description, lead, details } = operation;
    plain.push({
      ...operation,
      title: decodeAttribute(title),
      ...(description !== undefined && { description: await plainText(description) }),
      lead: await plainText(lead),
      details: await plainText(details),
    });
  }
  return plain;
}

async function plainText(text: string): Promise<string> {
  if (!tag.test(text)) return plainMarkdown(text);
  const { withoutHtml } = await import('./formats/html-in-markdown.ts');
  try {
    return withoutHtml(text);
  } catch (error) {
    if (error instanceof RangeError) return plainMarkdown(text);
    throw error;
  }
}
