import { termsOf } from '../../models/offline-extract/terms.ts';
import type { SearchHit } from '../../search/query/search-request.ts';

export const maxFollowUps = 3;
export const maxFollowUpLength = 150;

/**
 * Returns topics to ask about after an answer: the sections that were found besides the one it cites first, best first. They
 * cost neither a search nor a model call, and the documentation has something about each.
 */
export function followUpsOf({
  hits,
  weakScore,
  question,
  cited,
}: {
  hits: readonly SearchHit[];
  /** Lower scores have little to do with the question. */
  weakScore: number;
  question: string;
  /** Paths of the pages that the answer cites. */
  cited: readonly string[];
}): string[] {
  const asked = termsOf(question);
  const topics = new Set<string>();
  const quoted = hits.find(({ path }) => cited.includes(path));
  for (const hit of hits) {
    const topic = topicOf(hit.title, hit.headings);
    if (hit === quoted || hit.score < weakScore / 2 || topic === '' || topic.length > maxFollowUpLength) continue;
    if (!termsOf(topic).isSubsetOf(asked)) topics.add(topic);
  }
  return [...topics].slice(0, maxFollowUps);
}

/** Returns a section's heading. One word alone, such as "Example", needs the page's title. */
function topicOf(title: string, headings: readonly string[]): string {
  const page = plain(title);
  const heading = plain(headings.at(-1) ?? '') || page;
  return heading === page || heading.includes(' ') ? heading : `${page}: ${heading}`;
}

function plain(text: string): string {
  return text
    .replace(/[`*\\]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
