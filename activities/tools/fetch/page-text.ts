import { webPageToMarkdown } from '../../../search/read/formats/html.ts';
import { isHtml, textOfBody, type PageBody, type PageText } from './page-body.ts';

/**
 * Returns the text of a response, HTML as Markdown; a problem is the end of a sentence. Pure: it runs in a thread, because
 * parsing HTML of others can take long.
 */
export function pageText({ url, type, bytes }: PageBody): PageText {
  const decoded = textOfBody({ type, bytes });
  if ('problem' in decoded || !isHtml(type, decoded.text)) return decoded;
  const markdown = webPageToMarkdown(decoded.text, new URL(url));
  return markdown === null ? { problem: 'is nested too deeply to be read' } : { text: markdown };
}
