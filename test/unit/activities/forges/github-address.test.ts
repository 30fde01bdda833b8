import { expect, it } from 'vitest';
import { githubApiOf, githubGraphqlOf, githubUrlOf } from '../../../../activities/forges/github-address.ts';

it.each([
  ['https://github.com', 'https://api.github.com', 'https://api.github.com/graphql'],
  ['https://acme.ghe.com', 'https://api.acme.ghe.com', 'https://api.acme.ghe.com/graphql'],
  ['https://git.acme.test:8443', 'https://git.acme.test:8443/api/v3', 'https://git.acme.test:8443/api/graphql'],
  ['https://acme.ghe.com.evil.test', 'https://acme.ghe.com.evil.test/api/v3', undefined],
  ['https://api.acme.test', 'https://api.acme.test/api/v3', undefined],
])('%s has its API at %s', (url, api, graphql) => {
  expect(githubApiOf(url)).toBe(api);
  expect(githubUrlOf(api)).toBe(url);
  expect(githubGraphqlOf(api)).toBe(graphql ?? api.replace('v3', 'graphql'));
});
