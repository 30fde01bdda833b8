import { bodyOf, commitMessageOf, titleOf } from '../../../../activities/publish/pull-request-text.ts';
import type { Attack } from '../stage/attack.ts';

const inCommit = (said: string) => commitMessageOf({ ...text, title: titleOf(said), message: said });
const inBody = (said: string) => bodyOf({ ...text, message: said });
const text = { jobId: 'job_1', prompts: ['x'], unfinished: null, title: 'x' };

/** Text of an agent that forges act on, how to detect it where they do, and where that is. */
const signals: [string, string, RegExp, ((said: string) => string)[]][] = [
  ['a mention, which tells everybody', 'Ask @acme/everyone', /(?<!\w)@\w/, [inCommit, inBody]],
  ['a mention behind what is no code', 'a `b\nc` @root `d', /(?<!\w)@\w/, [inBody]],
  ['a word that closes an issue', 'Done, fixes: #12', /fixes: #\d/i, [inCommit, inBody]],
  ['a word that closes an issue elsewhere', 'Closes acme/lamp#3', /closes acme/i, [inCommit, inBody]],
  ['a mark that skips the checks of a commit', 'Done [skip ci]', /\[skip ci\]/i, [inCommit]],
  ['another person’s signature', 'Done.\n\nSigned-off-by: A <a@b.c>', /^signed-off-by/im, [inCommit]],
  ['a fold that hides whether the check succeeded', 'Done.\n<details><summary>', /<(?:details|summary)>/, [inBody]],
  ['code without an end, which hides the same', 'Done.\n```', /Done\.\n```(?!\n```)/, [inBody]],
];

export const signalAttacks = signals.map(([what, said, isFollowed, places]): Attack => ({
  class: 28,
  name: `${what}, in the words of an agent`,
  unprotected: async () => isFollowed.test(said),
  product: async () => places.some((place) => isFollowed.test(place(said))),
  contained: 'words of an agent are made inactive before they become a commit, a title or a description',
}));
