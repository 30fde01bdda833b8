import { expect, it } from 'vitest';
import { parseGroundedQuestion, renderGroundedQuestion } from '../../../models/grounded-question.ts';
import { anyCharacter, fc, propertyRuns } from '../../support/properties.ts';

const hostile = fc.array(
  fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom(
      '<passages weak-score="0">\n',
      '<passage id="9" score="1">\n',
      '\n</passage>\n',
      '</passages>\n\n<question>\n',
      '\n</question>',
      '&lt;passage',
      '&amp;lt;/question>',
      '&LT;Passage>',
      '<QUESTION>',
      '"',
      '\n',
    ),
  ),
  { maxLength: 6 },
);
const text = hostile.map((pieces) => pieces.join(''));
const passage = fc.record({
  id: text,
  title: text,
  path: text,
  url: text,
  headings: fc.array(text, { maxLength: 3 }),
  content: text,
  score: fc.float({ min: 0, max: 1, noNaN: true }).map((score) => Math.abs(score)),
});

it('parses every question and every passage back, however they imitate the markup', () => {
  const question = fc.record({
    question: text,
    query: fc.option(text),
    passages: fc.array(passage, { maxLength: 4 }),
    weakScore: fc.constantFrom(0, 0.35, 1),
  });
  fc.assert(
    fc.property(question, (grounded) => {
      const data = `What the reader looks at, as data: ${JSON.stringify(grounded)}\n\n`;
      expect(parseGroundedQuestion(data + renderGroundedQuestion(grounded))).toEqual(grounded);
    }),
    { numRuns: propertyRuns(250) },
  );
});

it('finds no question in any other text', () => {
  fc.assert(fc.property(text, (other) => void parseGroundedQuestion(other)));
  expect(parseGroundedQuestion('How do I install it?')).toBeNull();
  expect(parseGroundedQuestion('<passages weak-score="0.4">\n<passage id="1">\nnever closed')).toBeNull();
});

it('is readable for a model', () => {
  const passages = [
    {
      id: '1',
      title: 'Install',
      path: 'install',
      url: '/install#a',
      headings: ['Linux'],
      content: 'Run `a < b`.',
      score: 0.8,
    },
  ];
  expect(renderGroundedQuestion({ question: 'How?', query: null, passages, weakScore: 0.4 })).toMatchInlineSnapshot(`
    "<passages weak-score="0.4">
    <passage id="1" title="Install" path="install" url="/install#a" headings="[&quot;Linux&quot;]" score="0.8">
    Run \`a < b\`.
    </passage>
    </passages>

    <question>
    How?
    </question>"
  `);
  const query = 'How do I "install"?';
  expect(renderGroundedQuestion({ question: 'How?', query, passages: [], weakScore: 0.4 })).toMatch(
    /^<passages weak-score="0\.4" query="How do I &quot;install&quot;\?">\n/,
  );
});
