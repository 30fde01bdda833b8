import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Field, FormError } from '../../../dashboard/components/fields.tsx';
import { ApiProblem } from '../../../dashboard/http/client.ts';
import { fieldProblemOf } from '../../../dashboard/http/field-problem.ts';

const problemAt = (name: string, message: string, status = 400) =>
  fieldProblemOf(new ApiProblem(status, message), name);

it.each([
  ['jobBudgetUsd', 'jobBudgetUsd must be at most 1000.', 'Must be at most 1000.'],
  ['models', 'models[1] must be one of a, b.', 'Line 2 must be one of a, b.'],
  ['sources[0].prefix', 'sources[0].prefix is missing.', 'Is missing.'],
  ['sources[0].labels', 'sources[0].labels[2] is too long.', 'Line 3 is too long.'],
  ['url', 'The url must be an https:// address.', 'The url must be an https:// address.'],
  ['env', 'env[0].name must be a name.', 'env[0].name must be a name.'],
])('shows at the field %s that %j', (name, message, shown) => {
  expect(problemAt(name, message)).toBe(shown);
});

it('shows at no field what is about another one, or about none', () => {
  expect(problemAt('model', 'models[1] must be one of a, b.')).toBeNull();
  expect(problemAt('prefix', 'sources[0].prefix is missing.')).toBeNull();
  expect(problemAt('name', 'A site has at most 50 question sets.')).toBeNull();
  expect(problemAt('name', 'name is taken.', 409)).toBeNull();
  expect(fieldProblemOf(new TypeError('name is not a function'), 'name')).toBeNull();
});

it('marks the field as invalid, and describes it by the problem', () => {
  const html = renderToStaticMarkup(
    createElement(
      FormError,
      { value: new ApiProblem(400, 'days must be at least 1.') },
      ['days', 'name'].map((name) => createElement(Field, { key: name, name, label: name, value: '', onChange() {} })),
    ),
  );
  const [days = '', name = ''] = html.match(/<input[^>]*>/g) ?? [];
  expect(days).toContain('aria-invalid="true"');
  const [, id = ''] = /id="([^"]*)" class="field-error">Must be at least 1\.</.exec(html) ?? [];
  expect(/aria-describedby="([^"]*)"/.exec(days)?.[1]?.split(' ')).toContain(id);
  expect(name).not.toContain('aria-invalid');
});
