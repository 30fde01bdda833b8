import { describe, expect, it } from 'vitest';
import { readQuery } from '../../../../search/query/query-terms.ts';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const others = Array.from({ length: 40 }, (_, at) =>
  buildPage({
    path: `other-${at}`,
    content: `The front of the page, and other matter. See \`.Site.RegularPages\`, number ${at}.`,
  }),
);
const index = indexOf(temporaryDirectory(), [
  ...others,
  buildPage({ path: 'middleware', metadata: { title: 'Middleware' }, content: 'Runs before each request.' }),
  buildPage({ path: 'pagination', metadata: { title: 'Pagination' }, content: 'Splits a list.' }),
  buildPage({ path: 'errors', content: 'Raise an `HTTPException` where nothing is found.' }),
  buildPage({ path: 'docker', metadata: { title: 'Docker' }, content: 'Deployment in a container.' }),
  buildPage({ path: 'matter', metadata: { title: 'Front matter' }, content: 'The head of a page.' }),
  buildPage({ path: 'methods/site/regularpages', metadata: { title: 'RegularPages' }, content: 'Returns pages.' }),
  buildPage({ path: 'functions/strings/replace', metadata: { title: 'strings.Replace' }, content: 'Returns a text.' }),
  buildPage({
    path: 'functions/strings/pairs',
    metadata: { title: 'strings.ReplacePairs' },
    content: 'Returns a text, as `strings.Replace` does. With many pairs, `strings.Replace` is slower.',
  }),
]);
const best = (query: string) => {
  const [hit] = index.search({ query, limit: 1 });
  return hit !== undefined && hit.score >= index.weakScore ? hit.path : null;
};

describe('a query', () => {
  it.each([
    ['middelware', 'middleware'],
    ['midleware', 'middleware'],
    ['middlewares', 'middleware'],
    ['middlewware', 'middleware'],
    ['paginaton', 'pagination'],
    ['how does pagniation work?', 'pagination'],
    ['HTTPExeption', 'errors'],
  ])('finds %j, which has a typing error, in %s', (query, path) => {
    expect(best(query)).toBe(path);
  });

  it.each(['pocker', 'Is there a Docke plugin?', 'kettles', 'dock3r'])('takes %j for no misspelling', (query) => {
    expect(best(query)).toBeNull();
  });

  it.each([
    ['middle ware', 'middleware'],
    ['frontmatter', 'matter'],
    ['Frontmatter of a page', 'matter'],
  ])('finds %j, which the pages write together or apart, in %s', (query, path) => {
    expect(best(query)).toBe(path);
  });

  it.each([
    ['.Site.RegularPages', 'methods/site/regularpages'],
    ['strings.Replace', 'functions/strings/replace'],
    ['strings.Replace(text)', 'functions/strings/replace'],
  ])('finds the page that is named after a dotted name, %j, in %s', (query, path) => {
    expect(best(query)).toBe(path);
  });

  it.each([
    ['functions/strings/pairs', 'functions/strings/pairs'],
    ['/functions/strings/pairs.md#usage', 'functions/strings/pairs'],
    ['https://docs.example.com/en/functions/strings/pairs/', 'functions/strings/pairs'],
    ['docs.example.com/functions/strings/pairs?tab=1', 'functions/strings/pairs'],
    ['https://docs.example.com/docker', 'docker'],
    ['docker/pagination', 'docker'],
  ])('finds the page whose address %j is, or the words of another: %s', (query, path) => {
    expect(best(query)).toBe(path);
  });

  it('is corrected in few of its words, and in none of a text', () => {
    const corrected = (words: number) => {
      const asked: string[] = [];
      const correct = (word: string) => {
        asked.push(word);
        return [];
      };
      const query = Array.from({ length: words }, (_, at) => `unknown${'abcdefghijklmnopqrstuvwxyz'.charAt(at)}`);
      readQuery(query.join(' '), { count: () => 0, correct, passages: 10 });
      return asked.length;
    };
    expect([2, 10, 26].map(corrected)).toEqual([2, 3, 0]);
  });
});
