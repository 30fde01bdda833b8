import { answerOf, api } from '../http/client.ts';

export interface Passage {
  path: string;
  title: string;
  anchor: string | null;
  content: string;
  score: number | null;
}

/** What the search of a site finds for a question, best first. */
export async function findPassages(domain: string, query: string): Promise<Passage[]> {
  const hits = await answerOf(
    api.POST('/discovery/v1/search/{domain}', { params: { path: { domain } }, body: { query, pageSize: 5 } }),
  );
  return hits.map(({ path, content, metadata }) => {
    const { title, anchor, score }: Record<string, unknown> = { ...metadata };
    return {
      path,
      content,
      title: typeof title === 'string' ? title : path,
      anchor: typeof anchor === 'string' ? anchor : null,
      score: typeof score === 'number' ? score : null,
    };
  });
}
