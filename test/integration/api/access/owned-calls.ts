import type { ApiStores } from '../../../../api/stores.ts';

export interface Asked {
  stores: ApiStores;
  /** The calling organization. */
  as: { organizationId: string; keyId: string; sessionId: string; person: null };
  /** The organization that owns the requested rows. */
  ids: Record<string, string>;
  directory: string;
}

export const id = ({ ids }: Asked, kind: string) => ids[kind]!;
export const site = (asked: Asked) => ({ id: id(asked, 'site'), organizationId: asked.as.organizationId });
const limit = 50;

/** How to call each method of the stores of evaluations with ids. */
export const evaluationCalls = {
  'questionSets.list': (a: Asked) => a.stores.questionSets.list(site(a)),
  'questionSets.find': (a: Asked) => a.stores.questionSets.find(site(a), id(a, 'question-sets')),
  'questionSets.create': (a: Asked) =>
    a.stores.questionSets.create(a.as, id(a, 'site'), { name: 'Taken', questions: [] }),
  'questionSets.update': (a: Asked) =>
    a.stores.questionSets.update(a.as, id(a, 'site'), { id: id(a, 'question-sets'), name: 'Taken' }),
  'questionSets.remove': (a: Asked) => a.stores.questionSets.remove(a.as, id(a, 'site'), id(a, 'question-sets')),
  'questionSets.listAnswered': (a: Asked) => a.stores.questionSets.listAnswered(site(a), { isRatedUp: false, limit }),
  'evaluations.create': (a: Asked) =>
    a.stores.evaluations.create(a.as, id(a, 'site'), {
      set: { id: id(a, 'question-sets'), name: 'Known', questions: [], createdAt: new Date(), updatedAt: new Date() },
      configurations: [],
    }),
  'evaluations.list': (a: Asked) => a.stores.evaluations.list(site(a)),
  'evaluations.find': (a: Asked) => a.stores.evaluations.find(site(a), id(a, 'evaluations')),
  'evaluations.stop': (a: Asked) => a.stores.evaluations.stop(a.as, id(a, 'site'), id(a, 'evaluations')),
};

/** The methods that only read, as their names say. */
export const reads =
  /\.(content|count|current|domains|find|get|list|names|ofJob|patch|read|servers|steps?|turns)(?![a-z])/;
/** Methods whose results are the same for every organization of this test, or that do not read. */
export const alike = [
  'emptySearches.count',
  'organizations.get',
  'projects.findOn',
  'projects.list',
  'projects.names',
  'replies.findResumable',
];

/** The raw result of a call, and the same without the parts that vary. */
export async function said(call: (asked: Asked) => unknown, asked: Asked): Promise<{ answer: string; text: string }> {
  let answer = '';
  let text: string;
  try {
    text = answer = JSON.stringify((await call(asked)) ?? null);
  } catch (error) {
    text = String(error);
  }
  for (const known of Object.values(asked.ids)) if (known.length > 8) text = text.replaceAll(known, 'ID');
  text = text
    .replaceAll(/\b[a-z]+_[0-9a-z]{24}\b|whsec_[\w+/=]+|new-?0\.\d+/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|"updatedMicros":"\d+"|"oldestSeconds":[\d.]+/g, 'TIME');
  return { answer, text };
}
