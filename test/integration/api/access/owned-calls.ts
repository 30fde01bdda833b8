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
