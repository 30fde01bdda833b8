import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { createOpenAnswers } from '../../../api/open-answers.ts';

function stage() {
  const looks: { ids: string[]; answer(valid: string[]): void }[] = [];
  const answers = createOpenAnswers({
    access: {
      valid: (ids) => new Promise((resolve) => looks.push({ ids, answer: (valid) => resolve(new Set(valid)) })),
    },
  });
  function open(holder: { keyId: string; sessionId?: string } | null) {
    const req = {} as any;
    const res = Object.assign(new EventEmitter(), { destroy: () => res.emit('close') }) as any;
    void answers.track({ req, res } as any, () => Promise.resolve());
    const admit = (keyId: string, sessionId: string | null = null) =>
      answers.admit(req, { organizationId: 'org', keyId, sessionId });
    if (holder !== null) admit(holder.keyId, holder.sessionId ?? null);
    return { res, admit, ended: answers.accessEnded(req) };
  }
  return { looks, answers, open };
}

it('asks once for all that are open, by session where there is one, and ends those that are valid no more', async () => {
  const { looks, answers, open } = stage();
  await answers.endRevoked();
  expect(looks).toEqual([]);
  const [first, second, signedIn] = [open({ keyId: 'a' }), open({ keyId: 'a' }), open({ keyId: 'a', sessionId: 's' })];
  const kept = open({ keyId: 'b' });
  const looking = answers.endRevoked();
  // a look that takes long is not begun again
  await answers.endRevoked();
  expect(looks.map(({ ids }) => ids)).toEqual([['a', 's', 'b']]);
  looks[0]!.answer(['b', 's']);
  await looking;
  expect([first, second, signedIn, kept].map(({ ended }) => ended.aborted)).toEqual([true, true, false, false]);
  await new Promise((resolve) => first.res.once('close', resolve));
});

it('leaves alone who is let in while the look is under way, until the next one', async () => {
  const { looks, answers, open } = stage();
  open({ keyId: 'a' });
  const late = open(null);
  const looking = answers.endRevoked();
  late.admit('c');
  looks[0]!.answer(['a']);
  await looking;
  expect(late.ended.aborted).toBe(false);
  const next = answers.endRevoked();
  expect(looks[1]!.ids).toEqual(['a', 'c']);
  looks[1]!.answer(['a']);
  await next;
  expect(late.ended.aborted).toBe(true);
});
