import { answerOf, api } from '../http/client.ts';

export interface Passage {
  path: string;
  /** Headings of the page and of the sections that contain the passage. */
  headings: string[];
  anchor: string | null;
  content: string;
  score: number | null;
}

/** Searches a site for a question and returns the passages, best first. */
export async function findPassages(domain: string, query: string): Promise<Passage[]> {
  const hits = await answerOf(
    api.POST('/discovery/v1/search/{domain}', { params: { path: { domain } }, body: { query, pageSize: 5 } }),
  );
  return hits.map(({ path, content, metadata }) => {
    const { title, headings, anchor, score }: Record<string, unknown> = { ...metadata };
    return {
      path,
      content,
      headings: [title, ...(Array.isArray(headings) ? headings : [])].filter((text) => typeof text === 'string'),
      anchor: typeof anchor === 'string' ? anchor : null,
      score: typeof score === 'number' ? score : null,
    };
  });
}
